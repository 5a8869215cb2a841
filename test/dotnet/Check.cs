namespace DotnetChecks;

/// <summary>One thing that a client must see. The name is a whole sentence.</summary>
public sealed record Check(string Name, Func<Task> Body)
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    /// <summary>Runs the check and prints its line; true when it passed.</summary>
    public async Task<bool> RunAsync()
    {
        try
        {
            await Body().WaitAsync(Limit);
            Console.WriteLine($"ok {Name}");
            return true;
        }
        catch (Exception problem)
        {
            Console.WriteLine($"failed {Name}: {problem.GetType().Name}: {problem.Message.ReplaceLineEndings(" ")}");
            return false;
        }
    }
}

/// <summary>An expectation that did not hold.</summary>
public sealed class ExpectationException(string message) : Exception(message);

/// <summary>What the checks expect.</summary>
public static class Expect
{
    public static void Equal<T>(T expected, T actual, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(expected, actual))
        {
            throw new ExpectationException($"{what}: expected {expected}, got {actual}");
        }
    }

    public static void Sequence<T>(IEnumerable<T> expected, IEnumerable<T> actual, string what) =>
        Equal(string.Join(", ", expected), string.Join(", ", actual), what);

    public static void Contains(string part, string text) =>
        Equal(true, text.Contains(part, StringComparison.Ordinal), $"'{part}' in '{text}'");

    /// <summary>The exception of this type with which the action ends.</summary>
    public static async Task<TException> FailsAsync<TException>(Func<Task> action)
        where TException : Exception
    {
        try
        {
            await action();
        }
        catch (TException expected)
        {
            return expected;
        }

        throw new ExpectationException($"expected {typeof(TException).Name}, but it succeeded");
    }
}
