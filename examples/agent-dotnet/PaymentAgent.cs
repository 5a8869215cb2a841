namespace AgentDotnet;

/// <summary>
/// What an agent does around the calls to its service; it knows nothing of queues.
/// </summary>
/// <remarks>
/// <para>A1 No call starts after completeBy, and none beyond the allowance of the request.</para>
/// <para>A2 Every call carries the key and the fencing token of the request.</para>
/// <para>A3 Only a definite outcome is answered. Silence becomes a timeout, and the supervisor asks again.</para>
/// </remarks>
public sealed partial class PaymentAgent(
    IRemoteService service,
    TimeProvider clock,
    AgentSettings settings,
    ILogger<PaymentAgent> logger)
{
    /// <summary>Serves a request.</summary>
    /// <returns>The reply, or null when there is nothing definite to say.</returns>
    public async Task<AgentReply?> ServeAsync(AgentRequest request)
    {
        var outcome = await CallWithinAllowanceAsync(request);
        LogServed(request.OrderId, request.Attempt, request.StepId, request.Action, outcome.GetType().Name);
        return AgentReply.To(request, outcome); // A3
    }

    private async Task<RemoteOutcome> CallWithinAllowanceAsync(AgentRequest request)
    {
        var call = new RemoteCall(
            request.OrderId,
            request.StepId,
            request.Action,
            request.IdempotencyKey,
            request.FencingToken,
            request.Payload); // A2

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

            var outcome = await CallOnceAsync(call, remaining);
            if (outcome is not RemoteOutcome.Unknown)
            {
                return outcome;
            }
        }

        return new RemoteOutcome.Unknown();
    }

    private async Task<RemoteOutcome> CallOnceAsync(RemoteCall call, TimeSpan remaining)
    {
        using var deadline = new CancellationTokenSource(remaining, clock);
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
