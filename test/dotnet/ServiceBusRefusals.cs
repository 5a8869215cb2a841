using System.Transactions;
using Azure.Messaging.ServiceBus;

namespace DotnetChecks;

/// <summary>What the embedded broker refuses, in the words of its support table.</summary>
public sealed class ServiceBusRefusals(Endpoints endpoints)
{
    public IEnumerable<Check> All =>
    [
        new("a wrong key is refused", WrongKeyAsync),
        new("a key without the right to listen may send alone", SendOnlyAsync),
        new("a queue that is not there is named", MissingQueueAsync),
        new("sessions are refused in words", SessionsAsync),
        new("topics and subscriptions are refused in words", TopicsAsync),
        new("transactions are refused in words", TransactionsAsync),
        new("rules are refused in words", RulesAsync),
    ];

    private async Task WrongKeyAsync()
    {
        await using var client = endpoints.BrokerWithWrongKey();
        await Expect.FailsAsync<UnauthorizedAccessException>(() => client.SendAsync("send", "x"));
    }

    private async Task SendOnlyAsync()
    {
        await using var client = endpoints.SendOnlyBroker();
        await client.SendAsync("send-only", "x");
        await Expect.FailsAsync<UnauthorizedAccessException>(() => client.TakeAsync("send-only"));
        await Expect.FailsAsync<UnauthorizedAccessException>(
            () => client.CreateReceiver("send-only").PeekMessageAsync());
    }

    private async Task MissingQueueAsync()
    {
        await using var client = endpoints.Broker();
        await Fails.WithAsync(ServiceBusFailureReason.MessagingEntityNotFound, () => client.SendAsync("nowhere", "x"));
        await Fails.WithAsync(ServiceBusFailureReason.MessagingEntityNotFound, () => client.TakeAsync("nowhere"));
    }

    private async Task SessionsAsync()
    {
        await using var client = endpoints.Broker();
        await Fails.InWordsAsync("sessions", () => client.AcceptNextSessionAsync("send"));
        await Fails.InWordsAsync("sessions", () => client.AcceptSessionAsync("send", "s1"));
    }

    private async Task TopicsAsync()
    {
        await using var client = endpoints.Broker();
        await Fails.InWordsAsync(
            "topics and subscriptions",
            () => client.CreateReceiver("topic", "subscription").ReceiveMessageAsync());
    }

    private async Task TransactionsAsync()
    {
        await using var client = endpoints.Broker();
        await Fails.InWordsAsync("transactions", async () =>
        {
            using var scope = new TransactionScope(TransactionScopeAsyncFlowOption.Enabled);
            await client.SendAsync("send", "x");
            scope.Complete();
        });
    }

    private async Task RulesAsync()
    {
        await using var client = endpoints.Broker();
        await using var rules = client.CreateRuleManager("topic", "subscription");
        await Fails.InWordsAsync("topics and subscriptions", () => rules.DeleteRuleAsync("rule"));
    }
}
