using System.Text.Json;

namespace AgentDotnet;

/// <summary>A payment that was taken.</summary>
public sealed record Effect(string Key, string Reference, long Token);

/// <summary>A payment that was given back, or must never be taken.</summary>
public sealed record Tombstone(string Key, long Token);

/// <summary>One order at one service.</summary>
/// <param name="HighestToken">The highest fencing token seen.</param>
/// <param name="RefusedKeys">Keys of effects that were refused: they have none later.</param>
/// <param name="FurtherKeys">Other keys under which an effect was asked for: each is a second effect.</param>
public sealed record LedgerEntry(
    string OrderId,
    string Service,
    long HighestToken,
    Effect? Effect,
    Tombstone? Undo,
    IReadOnlyList<string> FurtherKeys,
    IReadOnlyList<string>? RefusedKeys = null);

/// <summary>
/// What a remote service must remember so that the pattern can promise <em>once</em>. The file keeps it over restarts.
/// </summary>
/// <remarks>
/// <para>L1 An idempotency key has one effect and one answer, however often it comes.</para>
/// <para>L2 A call with a lower fencing token than one seen for the order is turned away.</para>
/// <para>L3 An undo leaves a tombstone, also where nothing was done: a do that comes after it is refused.</para>
/// <para>L4 Nothing is answered before it is on disk.</para>
/// <para>L5 A refusal is remembered: its key has no effect later.</para>
/// </remarks>
public sealed class Ledger : IDisposable
{
    private readonly Lock gate = new();
    private readonly Dictionary<(string OrderId, string Service), LedgerEntry> entries = [];
    private readonly Journal journal;

    private Ledger(Journal journal) => this.journal = journal;

    /// <summary>Opens the ledger that the file keeps, or a new one. One process at a time may have it open.</summary>
    /// <exception cref="IOException">The file is open elsewhere.</exception>
    /// <exception cref="JsonException">The file holds something else.</exception>
    public static Ledger Open(string path)
    {
        var journal = Journal.Open(path);
        var ledger = new Ledger(journal);
        foreach (var line in journal.ReadAll())
        {
            ledger.Remember(JsonSerializer.Deserialize<LedgerEntry>(line)!);
        }

        return ledger;
    }

    /// <summary>Does what the call asks, once, and answers as the first time.</summary>
    public RemoteOutcome Record(RemoteCall call) => Record(call, refusal: null);

    /// <summary>Says no to the call, now and whenever its key comes again; what the key has done before stays done.</summary>
    public RemoteOutcome Refuse(RemoteCall call, RemoteOutcome.Refused refusal) => Record(call, refusal);

    private RemoteOutcome Record(RemoteCall call, RemoteOutcome.Refused? refusal)
    {
        lock (gate)
        {
            var known = entries.GetValueOrDefault((call.OrderId, call.Service)) ?? Empty(call);
            if (call.FencingToken < known.HighestToken)
            {
                return new RemoteOutcome.Fenced(); // L2
            }

            var (entry, outcome) = Decide(known with { HighestToken = call.FencingToken }, call, refusal);
            if (entry != known)
            {
                journal.Append(JsonSerializer.Serialize(entry)); // L4
                Remember(entry);
            }

            return outcome;
        }
    }

    public IReadOnlyList<LedgerEntry> EntriesOf(string orderId)
    {
        lock (gate)
        {
            return [.. entries.Values.Where(entry => entry.OrderId == orderId)];
        }
    }

    public void Dispose() => journal.Dispose();

    private static (LedgerEntry Entry, RemoteOutcome Outcome) Decide(LedgerEntry entry, RemoteCall call, RemoteOutcome.Refused? refusal)
    {
        var done = new RemoteOutcome.Succeeded($"{call.Service}-{call.IdempotencyKey}");
        if (call.Action == StepAction.Undo)
        {
            var undo = entry.Undo ?? new Tombstone(call.IdempotencyKey, call.FencingToken);
            return (entry with { Undo = undo }, done);
        }

        if (entry.Undo is not null)
        {
            return (entry, new RemoteOutcome.Refused("Undone", "this was undone before")); // L3
        }

        var refused = entry.RefusedKeys ?? [];
        if (refused.Contains(call.IdempotencyKey))
        {
            return (entry, refusal ?? new RemoteOutcome.Refused("Declined", "this was refused before")); // L5
        }

        var isDone = entry.Effect?.Key == call.IdempotencyKey || entry.FurtherKeys.Contains(call.IdempotencyKey);
        if (refusal is not null && !isDone)
        {
            return (entry with { RefusedKeys = [.. refused, call.IdempotencyKey] }, refusal); // L5
        }

        if (entry.Effect is null)
        {
            return (entry with { Effect = new Effect(call.IdempotencyKey, done.Reference, call.FencingToken) }, done);
        }

        return isDone
            ? (entry, done) // L1
            : (entry with { FurtherKeys = [.. entry.FurtherKeys, call.IdempotencyKey] }, done);
    }

    private static LedgerEntry Empty(RemoteCall call) => new(call.OrderId, call.Service, 0, null, null, []);

    private void Remember(LedgerEntry entry) => entries[(entry.OrderId, entry.Service)] = entry;
}
