using Azure.Identity;
using Azure.Messaging.ServiceBus;

namespace AgentDotnet;

/// <summary>What the environment says, read once; the process does not start with settings that cannot work.</summary>
/// <param name="Connection">Connection string, for the local stack; without it the identity of the process is used.</param>
/// <param name="Namespace">Host name of a Service Bus namespace in Azure.</param>
/// <param name="JournalFile">Where the simulated provider keeps what it has done.</param>
/// <param name="ClockMargin">How much earlier than completeBy this agent stops, because clocks differ.</param>
/// <param name="RetryDelay">Wait before the next call of one request; up to twice as long with jitter.</param>
public sealed record AgentSettings(
    string? Connection,
    string? Namespace,
    string JournalFile,
    TimeSpan ClockMargin,
    TimeSpan RetryDelay)
{
    public const string RequestQueue = "payment-requests";

    public const string ReplyQueue = "payment-replies";

    /// <exception cref="InvalidOperationException">A setting is missing or wrong; the message names it.</exception>
    public static AgentSettings Read(IConfiguration environment)
    {
        var connection = environment["SERVICE_BUS_CONNECTION"];
        var serviceBusNamespace = environment["SERVICE_BUS_NAMESPACE"];
        if (string.IsNullOrEmpty(connection) == string.IsNullOrEmpty(serviceBusNamespace))
        {
            throw new InvalidOperationException(
                "Set SERVICE_BUS_CONNECTION (the local stack) or SERVICE_BUS_NAMESPACE (Azure), and only one of them.");
        }

        return new AgentSettings(
            connection,
            serviceBusNamespace,
            environment["JOURNAL_FILE"] ?? Path.Combine(".data", "ledger.jsonl"),
            Milliseconds(environment, "CLOCK_MARGIN_MS", 250),
            Milliseconds(environment, "RETRY_DELAY_MS", 200));
    }

    public ServiceBusClient CreateClient() => string.IsNullOrEmpty(Connection)
        ? new ServiceBusClient(Namespace, new DefaultAzureCredential())
        : new ServiceBusClient(Connection);

    private static TimeSpan Milliseconds(IConfiguration environment, string name, int byDefault)
    {
        var text = environment[name];
        if (string.IsNullOrEmpty(text))
        {
            return TimeSpan.FromMilliseconds(byDefault);
        }

        return int.TryParse(text, out var value) && value >= 0
            ? TimeSpan.FromMilliseconds(value)
            : throw new InvalidOperationException($"{name} must be a whole number of milliseconds, 0 or more.");
    }
}
