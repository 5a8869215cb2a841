using Azure.Messaging.ServiceBus;

namespace DotnetChecks;

/// <summary>Receiving in every way that the client has.</summary>
public sealed class ReceiveChecks(Endpoints endpoints)
{
    private const string Queue = "receive";

    public IEnumerable<Check> All =>
    [
        new("a receive from an empty queue ends without a message", EmptyAsync),
        new("receive-and-delete takes messages for good", ReceiveAndDeleteAsync),
        new("prefetched messages can be settled", PrefetchAsync),
        new("a cancelled receive counts no delivery of what arrives afterwards", CancelAsync),
        new("a processor serves many messages at once and renews their locks", ProcessorAsync),
        new("peeking shows active, deferred and scheduled messages, and pages on", PeekAsync),
    ];

    private async Task EmptyAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        Expect.Equal(null, await receiver.ReceiveMessageAsync(TimeSpan.FromMilliseconds(200)), "message");
        Expect.Equal(0, (await receiver.ReceiveMessagesAsync(5, TimeSpan.FromMilliseconds(200))).Count, "messages");
    }

    private async Task ReceiveAndDeleteAsync()
    {
        await using var client = endpoints.Broker();
        await client.SendAsync(Queue, "1", "2");
        Expect.Equal("1", (await client.TakeAsync(Queue)).Body.ToString(), "first");
        Expect.Equal("2", (await client.TakeAsync(Queue)).Body.ToString(), "second");
        Expect.Equal(null, await client.CreateReceiver(Queue).PeekMessageAsync(), "what is left");
    }

    private async Task PrefetchAsync()
    {
        await using var client = endpoints.Broker();
        await client.SendAsync(Queue, [.. Enumerable.Range(0, 50).Select(number => $"{number}")]);
        await using var receiver = client.CreateReceiver(Queue, new ServiceBusReceiverOptions { PrefetchCount = 20 });
        for (var settled = 0; settled < 50; settled++)
        {
            await receiver.CompleteMessageAsync(await receiver.NextAsync());
        }

        Expect.Equal(null, await receiver.PeekMessageAsync(), "what is left");
    }

    /// <summary>The client releases what comes on the credit of a receive that was cancelled.</summary>
    private async Task CancelAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        for (var round = 0; round < 5; round++)
        {
            using var cancellation = new CancellationTokenSource();
            var receive = receiver.ReceiveMessageAsync(TimeSpan.FromSeconds(10), cancellation.Token);
            await cancellation.CancelAsync();
            await Expect.FailsAsync<TaskCanceledException>(() => receive);
            await client.SendAsync(Queue, "x");
            var message = await receiver.NextAsync();
            Expect.Equal(1, message.DeliveryCount, $"delivery count of round {round}");
            await receiver.CompleteMessageAsync(message);
        }
    }

    private async Task ProcessorAsync()
    {
        await using var client = endpoints.Broker();
        await client.SendAsync("short-lock", [.. Enumerable.Range(0, 24).Select(number => $"{number}")]);
        await using var processor = client.CreateProcessor("short-lock", new ServiceBusProcessorOptions
        {
            MaxConcurrentCalls = 8,
            MaxAutoLockRenewalDuration = TimeSpan.FromMinutes(1),
        });
        var done = new TaskCompletionSource();
        var bodies = new System.Collections.Concurrent.ConcurrentBag<string>();
        var problems = new System.Collections.Concurrent.ConcurrentBag<Exception>();
        processor.ProcessErrorAsync += failure =>
        {
            problems.Add(failure.Exception);
            return Task.CompletedTask;
        };
        processor.ProcessMessageAsync += async delivery =>
        {
            if (delivery.Message.Body.ToString() == "0")
            {
                await LockRenewedAsync(delivery);
            }

            await delivery.CompleteMessageAsync(delivery.Message);
            bodies.Add(delivery.Message.Body.ToString());
            if (bodies.Count == 24)
            {
                done.TrySetResult();
            }
        };
        await processor.StartProcessingAsync();
        await done.Task;
        await processor.StopProcessingAsync();
        Expect.Equal(24, bodies.Distinct().Count(), "messages served");
        Expect.Equal(0, problems.Count, $"problems ({problems.FirstOrDefault()?.Message})");
    }

    /// <summary>Waits until the client has renewed the lock, which is past the lock's first duration.</summary>
    private static async Task LockRenewedAsync(ProcessMessageEventArgs delivery)
    {
        var first = delivery.Message.LockedUntil;
        while (delivery.Message.LockedUntil == first || DateTimeOffset.UtcNow < first)
        {
            await Task.Delay(50);
        }
    }

    private async Task PeekAsync()
    {
        await using var client = endpoints.Broker();
        await using var receiver = client.CreateReceiver(Queue);
        await client.SendAsync(Queue, "deferred", "active");
        var deferred = await receiver.NextAsync();
        await receiver.DeferMessageAsync(deferred);
        var sender = client.CreateSender(Queue);
        var scheduled = await sender.ScheduleMessageAsync(
            new ServiceBusMessage("scheduled"),
            DateTimeOffset.UtcNow.AddHours(1));
        var first = await receiver.PeekMessagesAsync(2, fromSequenceNumber: 0);
        var rest = await receiver.PeekMessagesAsync(10);
        Expect.Sequence(
            ["deferred Deferred", "active Active", "scheduled Scheduled"],
            first.Concat(rest).Select(message => $"{message.Body} {message.State}"),
            "peeked");
        await sender.CancelScheduledMessageAsync(scheduled);
        await receiver.CompleteMessageAsync(await receiver.ReceiveDeferredMessageAsync(deferred.SequenceNumber));
        await client.TakeAsync(Queue);
    }
}
