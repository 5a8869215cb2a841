using Azure.Messaging.ServiceBus;

namespace DotnetChecks;

/// <summary>What a queue does by its properties.</summary>
public sealed class QueueChecks(Endpoints endpoints)
{
    public IEnumerable<Check> All =>
    [
        new("a repeated message id is accepted and dropped", DuplicateAsync),
        new("an expired message is dead-lettered", ExpiryAsync),
        new("a scheduled message comes at its time", ScheduledAsync),
        new("messages are forwarded", ForwardAsync),
        new("dead letters are forwarded with their source", ForwardDeadLettersAsync),
        new("a full queue refuses messages", QuotaAsync),
        new("a message id of more than 128 characters is refused", MessageIdAsync),
        new("application properties beyond 32 KB are refused", PropertySizeAsync),
    ];

    private async Task DuplicateAsync()
    {
        await using var client = endpoints.Broker();
        await using var sender = client.CreateSender("duplicates");
        await sender.SendMessageAsync(new ServiceBusMessage("first") { MessageId = "m" });
        await sender.SendMessageAsync(new ServiceBusMessage("second") { MessageId = "m" });
        Expect.Equal("first", (await client.TakeAsync("duplicates")).Body.ToString(), "body");
        Expect.Equal(null, await client.CreateReceiver("duplicates").PeekMessageAsync(), "what is left");
    }

    private async Task ExpiryAsync()
    {
        await using var client = endpoints.Broker();
        await using var sender = client.CreateSender("expiring");
        await sender.SendMessageAsync(new ServiceBusMessage("x") { TimeToLive = TimeSpan.FromMilliseconds(50) });
        var dead = await client.TakeDeadLetterAsync("expiring");
        Expect.Equal("TTLExpiredException", dead.DeadLetterReason, "reason");
    }

    private async Task ScheduledAsync()
    {
        await using var client = endpoints.Broker();
        await using var sender = client.CreateSender("scheduled");
        var at = DateTimeOffset.UtcNow.AddMilliseconds(300);
        await sender.SendMessageAsync(new ServiceBusMessage("later") { ScheduledEnqueueTime = at });
        await sender.SendMessageAsync(new ServiceBusMessage("now"));
        Expect.Equal("now", (await client.TakeAsync("scheduled")).Body.ToString(), "first");
        var later = await client.TakeAsync("scheduled");
        Expect.Equal("later", later.Body.ToString(), "second");
        Expect.Equal(at.ToUnixTimeMilliseconds(), later.ScheduledEnqueueTime.ToUnixTimeMilliseconds(), "time");
    }

    private async Task ForwardAsync()
    {
        await using var client = endpoints.Broker();
        await client.SendAsync("forwarding", "x");
        Expect.Equal("x", (await client.TakeAsync("forwarded")).Body.ToString(), "body");
        var refused = await Expect.FailsAsync<Exception>(() => client.TakeAsync("forwarding"));
        Expect.Contains("receive from 'forwarded'", refused.Message);
    }

    private async Task ForwardDeadLettersAsync()
    {
        await using var client = endpoints.Broker();
        await client.SendAsync("burying", "x");
        await using var receiver = client.CreateReceiver("burying");
        await receiver.DeadLetterMessageAsync(await receiver.NextAsync(), "Invalid");
        var dead = await client.TakeAsync("graveyard");
        Expect.Equal("burying", dead.DeadLetterSource, "source");
        Expect.Equal("Invalid", dead.DeadLetterReason, "reason");
        var refused = await Expect.FailsAsync<Exception>(() => client.TakeDeadLetterAsync("burying"));
        Expect.Contains("receive from 'graveyard'", refused.Message);
    }

    /// <summary>The server gives its queues a megabyte.</summary>
    private async Task QuotaAsync()
    {
        await using var client = endpoints.Broker();
        await using var sender = client.CreateSender("full");
        for (var sent = 0; sent < 5; sent++)
        {
            await sender.SendMessageAsync(new ServiceBusMessage(new byte[200_000]));
        }

        await Fails.WithAsync(
            ServiceBusFailureReason.QuotaExceeded,
            () => sender.SendMessageAsync(new ServiceBusMessage(new byte[200_000])));
    }

    /// <summary>The client checks its own property, not that of a raw message.</summary>
    private async Task MessageIdAsync()
    {
        await using var client = endpoints.Broker();
        await using var sender = client.CreateSender("send");
        var message = new ServiceBusMessage("x");
        message.GetRawAmqpMessage().Properties.MessageId = new Azure.Core.Amqp.AmqpMessageId(new string('x', 129));
        await Expect.FailsAsync<Exception>(() => sender.SendMessageAsync(message));
    }

    private async Task PropertySizeAsync()
    {
        await using var client = endpoints.Broker();
        await using var sender = client.CreateSender("send");
        var message = new ServiceBusMessage("x");
        message.ApplicationProperties["large"] = new string('x', 33_000);
        await Expect.FailsAsync<Exception>(() => sender.SendMessageAsync(message));
    }
}
