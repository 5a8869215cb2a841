namespace AgentDotnet;

/// <summary>
/// What an agent does around the calls to its service; it knows nothing of queues.
/// </summary>
/// <remarks>
/// <para>A1 No call starts after completeBy, and none beyond the allowance of the request.</para>
/// <para>A2 Every call carries the key and the fencing token of the request.</para>
/// <para>A3 Only a definite outcome is answered. Silence becomes a timeout, and the supervisor asks again.</para>
/// <para>A4 A no proves nothing about an earlier call or delivery whose end is unknown: it says that it is uncertain.</para>
/// </remarks>
public sealed partial class PaymentAgent(
    IRemoteService service,
    TimeProvider clock,
    AgentSettings settings,
    ILogger<PaymentAgent> logger)
{
    /// <summary>The shortest time that is worth a call.</summary>
    private static readonly TimeSpan MinCallTime = TimeSpan.FromSeconds(1);

    /// <summary>Serves a request.</summary>
    /// <param name="isRepeat">It was delivered before, and that delivery may have made calls.</param>
    /// <returns>The reply, or null when there is nothing definite to say.</returns>
    public async Task<AgentReply?> ServeAsync(AgentRequest request, bool isRepeat)
    {
        var (outcome, hasUnknownCall) = await CallWithinAllowanceAsync(request);
        LogServed(request.OrderId, request.Attempt, request.StepId, request.Action, outcome.GetType().Name);
        return AgentReply.To(request, outcome, isUncertain: isRepeat || hasUnknownCall); // A3, A4
    }

    private async Task<(RemoteOutcome Outcome, bool HasUnknownCall)> CallWithinAllowanceAsync(AgentRequest request)
    {
        var call = new RemoteCall(
            request.OrderId,
            request.StepId,
            request.Action,
            request.IdempotencyKey,
            request.FencingToken,
            request.Payload); // A2

        var hasUnknownCall = false;
        for (var calls = 0; calls < request.CallAllowance; calls++)
        {
            if (calls > 0)
            {
                await Task.Delay(settings.RetryDelay * (1 + Random.Shared.NextDouble()), clock);
            }

            var remaining = request.CompleteBy - settings.ClockMargin - clock.GetUtcNow();
            if (remaining <= TimeSpan.Zero)
            {
                LogNoTimeLeft(request.OrderId, request.Attempt, request.StepId, calls);
                break; // A1
            }

            var outcome = await CallOnceAsync(call, LimitOf(remaining, request.CallAllowance - calls));
            if (outcome is not RemoteOutcome.Unknown)
            {
                return (outcome, hasUnknownCall);
            }

            hasUnknownCall = true;
        }

        return (new RemoteOutcome.Unknown(), hasUnknownCall);
    }

    /// <summary>Each call has its share of the time that is left, so that one that hangs leaves some for the next.</summary>
    private static TimeSpan LimitOf(TimeSpan remaining, int callsLeft)
    {
        var share = remaining / callsLeft;
        var limit = share < MinCallTime ? MinCallTime : share;
        return limit < remaining ? limit : remaining;
    }

    private async Task<RemoteOutcome> CallOnceAsync(RemoteCall call, TimeSpan limit)
    {
        using var deadline = new CancellationTokenSource(limit, clock);
        try
        {
            return await service.CallAsync(call, deadline.Token);
        }
        catch (Exception error)
        {
            // A lost answer, a timeout or a fault on the way: the effect may be there.
            LogUnknown(call.OrderId, call.Service, error.GetType().Name);
            return new RemoteOutcome.Unknown();
        }
    }

    [LoggerMessage(LogLevel.Information, "{OrderId} attempt {Attempt} {StepId} {Action}: {Outcome}")]
    private partial void LogServed(string orderId, long attempt, string stepId, StepAction action, string outcome);

    [LoggerMessage(LogLevel.Warning, "{OrderId} attempt {Attempt} {StepId}: no time left after {Calls} calls")]
    private partial void LogNoTimeLeft(string orderId, long attempt, string stepId, int calls);

    [LoggerMessage(LogLevel.Warning, "{OrderId} {Service}: a call ended without an answer ({Error})")]
    private partial void LogUnknown(string orderId, string service, string error);
}
