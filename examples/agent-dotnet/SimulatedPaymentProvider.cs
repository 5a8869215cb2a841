using System.Text.Json;

namespace AgentDotnet;

/// <summary>
/// Stands for a payment provider: it obeys the demo's magic payment tokens and remembers what it did in a ledger. Yours
/// would send the key and the fencing token along with an HTTP request.
/// </summary>
public sealed class SimulatedPaymentProvider(Ledger ledger) : IRemoteService
{
    public async Task<RemoteOutcome> CallAsync(RemoteCall remoteCall, CancellationToken cancellation)
    {
        if (remoteCall.Action == StepAction.Undo)
        {
            return ledger.Record(remoteCall);
        }

        var isFirstAttempt = remoteCall.FencingToken == 1;
        switch (PaymentTokenOf(remoteCall.Payload))
        {
            case null:
                return new RemoteOutcome.Failed("InvalidPayload", "a payment needs a paymentToken");
            case "tok_declined":
                return ledger.Refuse(remoteCall, new RemoteOutcome.Refused("Declined", "the card was declined"));
            case "tok_closed_account":
                return new RemoteOutcome.Failed("Closed", "the account is closed");
            case "tok_unavailable_once" when isFirstAttempt:
                return new RemoteOutcome.Unknown();
            case "tok_hang":
            case "tok_hang_once" when isFirstAttempt:
                await Task.Delay(Timeout.Infinite, cancellation);
                break;
        }

        return ledger.Record(remoteCall);
    }

    private static string? PaymentTokenOf(JsonElement payload) =>
        payload.TryGetProperty("paymentToken", out var token) && token.ValueKind == JsonValueKind.String
            ? token.GetString()
            : null;
}
