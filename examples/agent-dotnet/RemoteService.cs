using System.Text.Json;

namespace AgentDotnet;

/// <summary>One call that may have an effect.</summary>
/// <param name="Service">The step: with the order it says what an undo undoes, as do and undo have different keys.</param>
public sealed record RemoteCall(
    string OrderId,
    string Service,
    StepAction Action,
    string IdempotencyKey,
    long FencingToken,
    JsonElement Payload);

/// <summary>How a call ended.</summary>
public abstract record RemoteOutcome
{
    private RemoteOutcome()
    {
    }

    /// <summary>Done, now or before.</summary>
    public sealed record Succeeded(string Reference) : RemoteOutcome;

    /// <summary>A definite no: a declined card.</summary>
    public sealed record Refused(string Code, string Message) : RemoteOutcome;

    /// <summary>A fault that no repetition cures.</summary>
    public sealed record Failed(string Code, string Message) : RemoteOutcome;

    /// <summary>A newer attempt has been here; this one has nothing more to say.</summary>
    public sealed record Fenced : RemoteOutcome;

    /// <summary>It may have happened or not; the same key may be tried again.</summary>
    public sealed record Unknown : RemoteOutcome;
}

/// <summary>The service that the agent wraps. This is the part to replace.</summary>
public interface IRemoteService
{
    /// <summary>
    /// Makes one call. What it throws counts as <see cref="RemoteOutcome.Unknown"/>; so does a call that has not ended
    /// when <paramref name="cancellation"/> comes.
    /// </summary>
    Task<RemoteOutcome> CallAsync(RemoteCall remoteCall, CancellationToken cancellation);
}
