using System.Text.Json;
using Azure.Core.Amqp;
using Azure.Messaging.ServiceBus;

namespace AgentDotnet;

/// <summary>
/// The agent's two queues.
/// </summary>
/// <remarks>
/// <para>Q1 First the reply, then the completion: a crash in between repeats the request, which the key makes harmless.</para>
/// <para>Q2 What cannot be read goes to the dead-letter queue at its first delivery, with a reason.</para>
/// <para>Q3 An exception gives the message back, and the queue's maxDeliveryCount bounds how often.</para>
/// <para>
/// Q4 A process that stops finishes what it has begun: a message given back now would come to this same receiver, which
/// is not closed yet, and use up its deliveries. What a killed process held comes back when its lock ends.
/// </para>
/// </remarks>
public sealed partial class QueueListener : IHostedService, IAsyncDisposable
{
    private readonly PaymentAgent agent;
    private readonly ILogger<QueueListener> logger;
    private readonly ServiceBusProcessor requests;
    private readonly ServiceBusSender replies;

    public QueueListener(
        ServiceBusClient client,
        PaymentAgent agent,
        ILogger<QueueListener> logger)
    {
        this.agent = agent;
        this.logger = logger;
        replies = client.CreateSender(AgentSettings.ReplyQueue);
        requests = client.CreateProcessor(AgentSettings.RequestQueue, new ServiceBusProcessorOptions
        {
            AutoCompleteMessages = false,
            MaxConcurrentCalls = 16,
        });
        requests.ProcessMessageAsync += OnMessageAsync;
        requests.ProcessErrorAsync += OnErrorAsync;
    }

    public Task StartAsync(CancellationToken cancellationToken) => requests.StartProcessingAsync(cancellationToken);

    /// <summary>Takes no more messages and waits for those in work (Q4).</summary>
    public Task StopAsync(CancellationToken cancellationToken) => requests.StopProcessingAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await requests.DisposeAsync();
        await replies.DisposeAsync();
    }

    private async Task OnMessageAsync(ProcessMessageEventArgs delivery)
    {
        var (request, problem) = Read(delivery.Message);
        if (request is null)
        {
            LogUnreadable(delivery.Message.MessageId, problem!.Reason);
            await delivery.DeadLetterMessageAsync(delivery.Message, problem.Reason, problem.Description); // Q2
            return;
        }

        var reply = await agent.ServeAsync(request, isRepeat: delivery.Message.DeliveryCount > 1);
        if (reply is not null)
        {
            await SendAsync(reply); // Q1
        }

        await delivery.CompleteMessageAsync(delivery.Message);
    }

    private static (AgentRequest? Request, Unreadable? Problem) Read(ServiceBusReceivedMessage message)
    {
        var isBytes = message.GetRawAmqpMessage().Body.BodyType == AmqpMessageBodyType.Data;
        return isBytes ? AgentRequest.Read(message.Body.ToMemory()) : (null, Unreadable.NoObject);
    }

    private Task SendAsync(AgentReply reply) => replies.SendMessageAsync(new ServiceBusMessage(
        JsonSerializer.SerializeToUtf8Bytes(reply, ContractJson.Options))
    {
        MessageId = reply.RequestId, // the broker drops a repeated reply
        CorrelationId = reply.OrderId,
        ContentType = "application/json",
    });

    private Task OnErrorAsync(ProcessErrorEventArgs failure)
    {
        LogFailure(failure.Exception, failure.ErrorSource); // Q3
        return Task.CompletedTask;
    }

    [LoggerMessage(LogLevel.Warning, "{MessageId} is no request ({Reason}): dead letter")]
    private partial void LogUnreadable(string messageId, string reason);

    [LoggerMessage(LogLevel.Error, "The queue gave trouble ({Source})")]
    private partial void LogFailure(Exception error, ServiceBusErrorSource source);
}
