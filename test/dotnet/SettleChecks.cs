using Azure.Messaging.ServiceBus;

namespace DotnetChecks;

/// <summary>Settling, locks and dead letters.</summary>
public sealed class SettleChecks(Endpoints endpoints)
{
    private const string Queue = "settle";
    private const string TwoDeliveries = "two-deliveries";
    private const string ShortLock = "short-lock";

    public IEnumerable<Check> All =>
    [
        new("an abandoned message comes back with its changes and one more delivery", AbandonAsync),
        new("a deferred message comes by its sequence number alone, and once", DeferAsync),
        new("a deferred message that is not there cannot be received", MissingDeferredAsync),
        new("a dead letter tells its reason, its description and its changes", DeadLetterAsync),
        new("a message whose deliveries are used up is dead-lettered", MaxDeliveryCountAsync),
        new("a lock that has ended can neither be settled nor renewed", LockLostAsync),
        new("a lock can be renewed", RenewAsync),
        new("a message can be settled when its receiver is closed", SettleAfterCloseAsync),
    ];

    private async Task AbandonAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        await client.SendAsync(Queue, "x");
        var changes = new Dictionary<string, object> { ["why"] = "busy" };
        await receiver.AbandonMessageAsync(await receiver.NextAsync(), changes);
        var again = await receiver.NextAsync();
        Expect.Equal(2, again.DeliveryCount, "delivery count");
        Expect.Equal("busy", again.ApplicationProperties["why"], "change");
        await receiver.CompleteMessageAsync(again);
    }

    private async Task DeferAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        await client.SendAsync(Queue, "x");
        var message = await receiver.NextAsync();
        await receiver.DeferMessageAsync(message, new Dictionary<string, object> { ["step"] = 2 });
        var deferred = await receiver.ReceiveDeferredMessageAsync(message.SequenceNumber);
        Expect.Equal(2, deferred.ApplicationProperties["step"], "change");
        await receiver.CompleteMessageAsync(deferred);
        await Fails.WithAsync(
            ServiceBusFailureReason.MessageNotFound,
            () => receiver.ReceiveDeferredMessageAsync(message.SequenceNumber));
    }

    private async Task MissingDeferredAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        await Fails.WithAsync(
            ServiceBusFailureReason.MessageNotFound,
            () => receiver.ReceiveDeferredMessageAsync(99_999));
    }

    private async Task DeadLetterAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        await client.SendAsync(Queue, "x");
        var changes = new Dictionary<string, object> { ["extra"] = "kept" };
        await receiver.DeadLetterMessageAsync(await receiver.NextAsync(), changes, "Invalid", "the total is negative");
        var dead = await client.TakeDeadLetterAsync(Queue);
        Expect.Sequence(
            ["x", "Invalid", "the total is negative", "kept"],
            [dead.Body.ToString(), dead.DeadLetterReason, dead.DeadLetterErrorDescription, $"{dead.ApplicationProperties["extra"]}"],
            "dead letter");
    }

    private async Task MaxDeliveryCountAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(TwoDeliveries);
        await client.SendAsync(TwoDeliveries, "x");
        await receiver.AbandonMessageAsync(await receiver.NextAsync());
        await receiver.AbandonMessageAsync(await receiver.NextAsync());
        var dead = await client.TakeDeadLetterAsync(TwoDeliveries);
        Expect.Equal("MaxDeliveryCountExceeded", dead.DeadLetterReason, "reason");
        Expect.Contains("after 2 delivery attempts", dead.DeadLetterErrorDescription);
    }

    private async Task LockLostAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(ShortLock);
        await client.SendAsync(ShortLock, "x");
        var held = await receiver.NextAsync();
        var again = await receiver.NextAsync(); // Comes when the first lock has ended.
        Expect.Equal(2, again.DeliveryCount, "delivery count");
        await Fails.WithAsync(ServiceBusFailureReason.MessageLockLost, () => receiver.CompleteMessageAsync(held));
        await Fails.WithAsync(ServiceBusFailureReason.MessageLockLost, () => receiver.RenewMessageLockAsync(held));
        await receiver.CompleteMessageAsync(again);
    }

    private async Task RenewAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(ShortLock);
        await client.SendAsync(ShortLock, "x");
        var message = await receiver.NextAsync();
        var first = message.LockedUntil;
        await receiver.RenewMessageLockAsync(message);
        Expect.Equal(true, message.LockedUntil >= first, "later end of the lock");
        await receiver.CompleteMessageAsync(message);
    }

    private async Task SettleAfterCloseAsync()
    {
        await using var client = endpoints.Broker();
        await client.SendAsync(Queue, "1", "2");
        var closed = client.CreateReceiver(Queue);
        var (first, second) = (await closed.NextAsync(), await closed.NextAsync());
        await closed.DisposeAsync();
        await using var other = client.CreateReceiver(Queue);
        await other.CompleteMessageAsync(first);
        await other.AbandonMessageAsync(second);
        await other.CompleteMessageAsync(await other.NextAsync());
        Expect.Equal(null, await other.PeekMessageAsync(), "what is left");
    }
}
