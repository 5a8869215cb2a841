using Azure.Core.Amqp;
using Azure.Messaging.ServiceBus;

namespace DotnetChecks;

/// <summary>Sending and scheduling.</summary>
public sealed class SendChecks(Endpoints endpoints)
{
    private const string Queue = "send";
    private const int Largest = 262_000;

    public IEnumerable<Check> All =>
    [
        new("every kind of property arrives as it was sent", PropertiesAsync),
        new("every kind of body arrives as it was sent", BodiesAsync),
        new("a batch arrives whole and in order", BatchAsync),
        new("a message that is too large is refused", TooLargeAsync),
        new("the largest message can be scheduled, and cancelled once", ScheduleAsync),
        new("messages that are too large together cannot be scheduled", ScheduleTooLargeAsync),
        new("a scheduled message that is not there cannot be cancelled", CancelMissingAsync),
    ];

    private static readonly Dictionary<string, object> Properties = new()
    {
        ["string"] = "text ✓",
        ["bool"] = true,
        ["byte"] = (byte)200,
        ["sbyte"] = (sbyte)-5,
        ["short"] = (short)-300,
        ["ushort"] = (ushort)60_000,
        ["int"] = -70_000,
        ["uint"] = 4_000_000_000,
        ["long"] = -5_000_000_000,
        ["ulong"] = 18_000_000_000_000_000_000,
        ["float"] = 1.5f,
        ["double"] = 2.25,
        ["decimal"] = 12.345m,
        ["char"] = 'ü',
        ["Guid"] = Guid.Parse("0b5a7c3e-1d2f-4e6a-9b8c-7d6e5f4a3b2c"),
        ["DateTime"] = new DateTime(2026, 1, 31, 12, 0, 0, DateTimeKind.Utc),
        ["DateTimeOffset"] = new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero),
        ["TimeSpan"] = TimeSpan.FromMinutes(90),
        ["Uri"] = new Uri("https://example.org/a?b=c"),
    };

    private async Task PropertiesAsync()
    {
        await using var client = endpoints.Broker();
        var sent = new ServiceBusMessage("x")
        {
            MessageId = "properties",
            CorrelationId = "correlation",
            Subject = "subject",
            To = "to",
            ReplyTo = "reply-to",
            ContentType = "text/plain",
            TimeToLive = TimeSpan.FromHours(1),
        };
        foreach (var (name, value) in Properties)
        {
            sent.ApplicationProperties[name] = value;
        }

        await client.CreateSender(Queue).SendMessageAsync(sent);
        var got = await client.TakeAsync(Queue);
        foreach (var (name, value) in Properties)
        {
            Expect.Equal(value, got.ApplicationProperties[name], name);
        }

        Expect.Sequence(
            ["properties", "correlation", "subject", "to", "reply-to", "text/plain", "01:00:00"],
            [got.MessageId, got.CorrelationId, got.Subject, got.To, got.ReplyTo, got.ContentType, got.TimeToLive.ToString()],
            "system properties");
    }

    private async Task BodiesAsync()
    {
        await using var client = endpoints.Broker();
        AmqpMessageBody[] bodies =
        [
            AmqpMessageBody.FromData([new byte[] { 1, 2 }, new byte[] { 3 }]),
            AmqpMessageBody.FromValue(12.5),
            AmqpMessageBody.FromSequence([["a", 1], ["b"]]),
        ];
        foreach (var body in bodies)
        {
            var message = new ServiceBusMessage();
            message.GetRawAmqpMessage().Body = body;
            await client.CreateSender(Queue).SendMessageAsync(message);
        }

        var data = (await client.TakeAsync(Queue)).GetRawAmqpMessage().Body;
        Expect.Equal(true, data.TryGetData(out var sections), "data");
        Expect.Sequence<byte>([1, 2, 3], sections!.SelectMany(section => section.ToArray()), "data sections");
        (await client.TakeAsync(Queue)).GetRawAmqpMessage().Body.TryGetValue(out var value);
        Expect.Equal(12.5, value, "value");
        (await client.TakeAsync(Queue)).GetRawAmqpMessage().Body.TryGetSequence(out var sequence);
        Expect.Sequence(["a", "1", "b"], sequence!.SelectMany(list => list).Select(item => $"{item}"), "sequence");
    }

    private async Task BatchAsync()
    {
        await using var client = endpoints.Broker();
        var sender = client.CreateSender(Queue);
        using var batch = await sender.CreateMessageBatchAsync();
        foreach (var number in Enumerable.Range(0, 100))
        {
            Expect.Equal(true, batch.TryAddMessage(new ServiceBusMessage($"{number}")), "room in the batch");
        }

        await sender.SendMessagesAsync(batch);
        var bodies = new List<string>();
        while (bodies.Count < 100)
        {
            bodies.Add((await client.TakeAsync(Queue)).Body.ToString());
        }

        Expect.Sequence(Enumerable.Range(0, 100).Select(number => $"{number}"), bodies, "bodies");
    }

    private async Task TooLargeAsync()
    {
        await using var client = endpoints.Broker();
        var sender = client.CreateSender(Queue);
        await Fails.WithAsync(
            ServiceBusFailureReason.MessageSizeExceeded,
            () => sender.SendMessageAsync(new ServiceBusMessage(new byte[300_000])));
    }

    private async Task ScheduleAsync()
    {
        await using var client = endpoints.Broker();
        var sender = client.CreateSender(Queue);
        var sequence = await sender.ScheduleMessageAsync(
            new ServiceBusMessage(new byte[Largest]),
            DateTimeOffset.UtcNow.AddHours(1));
        var peeked = await client.CreateReceiver(Queue).PeekMessageAsync();
        Expect.Equal(ServiceBusMessageState.Scheduled, peeked.State, "state");
        await sender.CancelScheduledMessageAsync(sequence);
        await Fails.WithAsync(
            ServiceBusFailureReason.MessageNotFound,
            () => sender.CancelScheduledMessageAsync(sequence));
    }

    private async Task ScheduleTooLargeAsync()
    {
        await using var client = endpoints.Broker();
        var sender = client.CreateSender(Queue);
        foreach (var count in new[] { 3, 40 })
        {
            var messages = Enumerable.Range(0, count).Select(_ => new ServiceBusMessage(new byte[100_000]));
            await Fails.WithAsync(
                ServiceBusFailureReason.MessageSizeExceeded,
                () => sender.ScheduleMessagesAsync(messages, DateTimeOffset.UtcNow.AddHours(1)));
        }
    }

    private async Task CancelMissingAsync()
    {
        await using var client = endpoints.Broker();
        var sender = client.CreateSender(Queue);
        await Fails.WithAsync(
            ServiceBusFailureReason.MessageNotFound,
            () => sender.CancelScheduledMessageAsync(99_999));
    }
}
