namespace AgentDotnet;

public enum ReplyOutcome
{
    Succeeded,
    Refused,
    Failed,
}

/// <summary>A code for programs and words for people.</summary>
public sealed record ReplyError(string Code, string Message);

/// <summary>What the agent answers, as docs/schemas/agent-reply.json says.</summary>
/// <param name="Uncertain">
/// With a no: an earlier call or delivery of the request may have had an effect all the same. The scheduler undoes it.
/// </param>
public sealed record AgentReply(
    int SchemaVersion,
    string RequestId,
    string ReplyToken,
    string OrderId,
    long Attempt,
    string StepId,
    ReplyOutcome Outcome,
    IReadOnlyDictionary<string, string>? Result = null,
    ReplyError? Error = null,
    bool? Uncertain = null)
{
    private const int MaxResultLength = 256;
    private const int MaxMessageLength = 500;

    /// <summary>The reply to a request, or null: only what is definite is told.</summary>
    public static AgentReply? To(AgentRequest request, RemoteOutcome outcome, bool isUncertain) => outcome switch
    {
        RemoteOutcome.Succeeded done => Echo(request, ReplyOutcome.Succeeded) with { Result = ResultOf(done) },
        RemoteOutcome.Refused no => No(request, ReplyOutcome.Refused, ErrorOf(no.Code, no.Message), isUncertain),
        RemoteOutcome.Failed never => No(request, ReplyOutcome.Failed, ErrorOf(never.Code, never.Message), isUncertain),
        _ => null,
    };

    private static AgentReply No(AgentRequest request, ReplyOutcome outcome, ReplyError error, bool isUncertain) =>
        Echo(request, outcome) with { Error = error, Uncertain = isUncertain ? true : null };

    private static AgentReply Echo(AgentRequest request, ReplyOutcome outcome) => new(
        request.SchemaVersion,
        request.RequestId,
        request.ReplyToken,
        request.OrderId,
        request.Attempt,
        request.StepId,
        outcome);

    /// <summary>What is too long for a reply does not travel. The step is done all the same, so it stays a success.</summary>
    private static Dictionary<string, string> ResultOf(RemoteOutcome.Succeeded done) =>
        done.Reference.Length <= MaxResultLength ? new() { ["reference"] = done.Reference } : [];

    private static ReplyError ErrorOf(string code, string message) =>
        new(code, message.Length <= MaxMessageLength ? message : message[..MaxMessageLength]);
}
