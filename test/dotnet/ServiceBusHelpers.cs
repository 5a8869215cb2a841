using Azure.Messaging.ServiceBus;

namespace DotnetChecks;

internal static class ServiceBusHelpers
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    /// <summary>The next message of a queue, gone from it.</summary>
    public static async Task<ServiceBusReceivedMessage> TakeAsync(this ServiceBusClient client, string queue)
    {
        var options = new ServiceBusReceiverOptions { ReceiveMode = ServiceBusReceiveMode.ReceiveAndDelete };
        await using var receiver = client.CreateReceiver(queue, options);
        return await receiver.NextAsync();
    }

    /// <summary>The next dead letter of a queue, gone from it.</summary>
    public static async Task<ServiceBusReceivedMessage> TakeDeadLetterAsync(this ServiceBusClient client, string queue)
    {
        var options = new ServiceBusReceiverOptions
        {
            ReceiveMode = ServiceBusReceiveMode.ReceiveAndDelete,
            SubQueue = SubQueue.DeadLetter,
        };
        await using var receiver = client.CreateReceiver(queue, options);
        return await receiver.NextAsync();
    }

    /// <summary>The next message; waits for it.</summary>
    public static async Task<ServiceBusReceivedMessage> NextAsync(this ServiceBusReceiver receiver) =>
        await receiver.ReceiveMessageAsync(Patience) ?? throw new ExpectationException("no message came");

    public static async Task SendAsync(this ServiceBusClient client, string queue, params string[] bodies)
    {
        await using var sender = client.CreateSender(queue);
        await sender.SendMessagesAsync(bodies.Select(body => new ServiceBusMessage(body)));
    }
}

/// <summary>Failures by the reason that the client gives.</summary>
internal static partial class Fails
{
    public static async Task WithAsync(ServiceBusFailureReason reason, Func<Task> action)
    {
        var failure = await Expect.FailsAsync<ServiceBusException>(action);
        Expect.Equal(reason, failure.Reason, "reason");
    }

    /// <summary>Refused as a feature that the embedded broker leaves out.</summary>
    public static async Task InWordsAsync(string feature, Func<Task> action)
    {
        var failure = await Expect.FailsAsync<Exception>(action);
        Expect.Contains($"The embedded broker does not support {feature}", failure.Message);
    }
}
