using Azure.Messaging.ServiceBus;
using Microsoft.Azure.Cosmos;

namespace DotnetChecks;

/// <summary>Where the two servers are, and clients for them.</summary>
public sealed record Endpoints(string ServiceBus, string ServiceBusSendOnly, string CosmosDb, string CosmosKey)
{
    /// <summary>Failures show at once instead of after a minute of repetitions.</summary>
    private static readonly ServiceBusClientOptions Hasty = new()
    {
        RetryOptions = new ServiceBusRetryOptions { MaxRetries = 0, TryTimeout = TimeSpan.FromSeconds(20) },
    };

    public static Endpoints FromEnvironment() => new(
        Read("SERVICE_BUS_CONNECTION"),
        Read("SERVICE_BUS_SEND_ONLY_CONNECTION"),
        Read("COSMOS_DB_ENDPOINT"),
        Read("COSMOS_DB_KEY"));

    public ServiceBusClient Broker() => new(ServiceBus, Hasty);

    public ServiceBusClient SendOnlyBroker() => new(ServiceBusSendOnly, Hasty);

    public ServiceBusClient BrokerWithWrongKey() =>
        new(ServiceBus.Replace("SharedAccessKey=", "SharedAccessKey=x", StringComparison.Ordinal), Hasty);

    public CosmosClient Cosmos(Action<CosmosClientOptions>? change = null)
    {
        var options = new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway };
        change?.Invoke(options);
        return new CosmosClient(CosmosDb, CosmosKey, options);
    }

    private static string Read(string name) => Environment.GetEnvironmentVariable(name)
        ?? throw new InvalidOperationException($"The environment variable {name} is missing.");
}
