using System.Text;

namespace AgentDotnet;

/// <summary>
/// A file of lines to which is only added. It grows for ever: a service of yours has a database instead.
/// </summary>
/// <remarks>
/// <para>J1 A line is on disk when <see cref="Append"/> returns.</para>
/// <para>J2 A line that a crash cut off was never acknowledged, and is removed when the file is opened.</para>
/// <para>J3 One process writes: a second one cannot open the file.</para>
/// </remarks>
public sealed class Journal : IDisposable
{
    private readonly FileStream file;

    private Journal(FileStream file) => this.file = file;

    public static Journal Open(string path)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!);
        var file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None); // J3
        file.SetLength(EndOfLastLine(file)); // J2
        return new Journal(file);
    }

    public IEnumerable<string> ReadAll()
    {
        file.Position = 0;
        using var reader = new StreamReader(file, Encoding.UTF8, leaveOpen: true);
        while (reader.ReadLine() is { } line)
        {
            yield return line;
        }
    }

    public void Append(string line)
    {
        var end = file.Length;
        file.Position = end;
        try
        {
            file.Write(Encoding.UTF8.GetBytes(line + '\n'));
            file.Flush(flushToDisk: true); // J1
        }
        catch
        {
            file.SetLength(end); // half a line must not be joined by the next one
            throw;
        }
    }

    public void Dispose() => file.Dispose();

    private static long EndOfLastLine(FileStream file)
    {
        for (var end = file.Length; end > 0; end--)
        {
            file.Position = end - 1;
            if (file.ReadByte() == '\n')
            {
                return end;
            }
        }

        return 0;
    }
}
