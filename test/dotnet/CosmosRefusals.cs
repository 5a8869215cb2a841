using System.Net;
using Microsoft.Azure.Cosmos;
using Microsoft.Azure.Cosmos.Scripts;

namespace DotnetChecks;

/// <summary>What the embedded Cosmos DB refuses, in the words of its support table.</summary>
public sealed class CosmosRefusals(Endpoints endpoints)
{
    private static readonly PartitionKey Key = new("k");

    public IEnumerable<Check> All =>
    [
        new("a wrong key is unauthorized", WrongKeyAsync),
        new("a transactional batch in HybridRow is refused in words", BatchAsync),
        new("bulk execution is refused", BulkAsync),
        new("the change feed is refused in words", ChangeFeedAsync),
        new("containers with other features are refused in words", ContainersAsync),
        new("changing a container is refused in words", ReplaceContainerAsync),
        new("scripts, offers and users are refused in words", OtherResourcesAsync),
        new("deleting a whole partition key is refused in words", DeletePartitionAsync),
        new("queries of other kinds are refused in words", QueriesAsync),
        new("queries over databases and containers are refused in words", MetadataQueriesAsync),
    ];

    private async Task WrongKeyAsync()
    {
        var wrong = endpoints with { CosmosKey = Convert.ToBase64String("another key"u8.ToArray()) };
        using var client = wrong.Cosmos();
        await Fails.WithStatusAsync(HttpStatusCode.Unauthorized, () => client.GetDatabase("checks").ReadAsync());
    }

    private async Task BatchAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("refusals");
        var batch = container.CreateTransactionalBatch(Key).CreateItem(new Item("b1", "k", 1)).ReadItem("b2");
        using var answer = await batch.ExecuteAsync();
        Expect.Equal(HttpStatusCode.BadRequest, answer.StatusCode, "status");
        Expect.Contains("A transactional batch in HybridRow", answer.ErrorMessage);
        Expect.Contains("not supported by the embedded Cosmos DB", answer.ErrorMessage);
    }

    private async Task BulkAsync()
    {
        using var client = endpoints.Cosmos(options => options.AllowBulkExecution = true);
        var container = await client.ContainerAsync("refusals");
        await Fails.WithStatusAsync(
            HttpStatusCode.BadRequest, // The client drops the server's words here.
            () => container.CreateItemAsync(new Item("b3", "k", 1), Key));
    }

    private async Task ChangeFeedAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("refusals");
        using var feed = container.GetChangeFeedIterator<Item>(
            ChangeFeedStartFrom.Beginning(),
            ChangeFeedMode.Incremental);
        await Fails.NotSupportedAsync("change feed", () => feed.ReadNextAsync());
    }

    private async Task ContainersAsync()
    {
        using var client = endpoints.Cosmos();
        Database database = await client.CreateDatabaseIfNotExistsAsync(CosmosHelpers.DatabaseName);
        var hierarchical = new ContainerProperties("h", ["/a", "/b"]);
        await Fails.NotSupportedAsync("hierarchical partition keys", () => database.CreateContainerAsync(hierarchical));
        var unique = new ContainerProperties("u", "/pk");
        unique.UniqueKeyPolicy.UniqueKeys.Add(new UniqueKey { Paths = { "/x" } });
        await Fails.NotSupportedAsync("uniqueKeyPolicy", () => database.CreateContainerAsync(unique));
        var unindexed = new ContainerProperties("n", "/pk");
        unindexed.IndexingPolicy.Automatic = false;
        unindexed.IndexingPolicy.IndexingMode = IndexingMode.None;
        await Fails.NotSupportedAsync("indexingPolicy", () => database.CreateContainerAsync(unindexed));
    }

    private async Task ReplaceContainerAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("refusals");
        var properties = new ContainerProperties("refusals", "/pk") { DefaultTimeToLive = 60 };
        await Fails.NotSupportedAsync("Changing a container", () => container.ReplaceContainerAsync(properties));
    }

    private async Task OtherResourcesAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("refusals");
        var procedure = new StoredProcedureProperties("p", "function () {}");
        await Fails.NotSupportedAsync("sprocs", () => container.Scripts.CreateStoredProcedureAsync(procedure));
        await Fails.NotSupportedAsync("offers", () => container.ReadThroughputAsync());
        await Fails.NotSupportedAsync("users", () => container.Database.CreateUserAsync("u"));
    }

    private async Task DeletePartitionAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("refusals");
        using var answer = await container.DeleteAllItemsByPartitionKeyStreamAsync(Key);
        Expect.Equal(HttpStatusCode.BadRequest, answer.StatusCode, "status");
        Expect.Contains("not supported by the embedded Cosmos DB", answer.ErrorMessage);
    }

    private async Task QueriesAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("refusals");
        (string Query, string Feature)[] queries =
        [
            ("SELECT * FROM c JOIN t IN c.tags", "JOIN"),
            ("SELECT VALUE t FROM c JOIN t IN c.tags", "JOIN"),
            ("SELECT VALUE t FROM t IN c.tags", "Iteration"),
            ("SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 FROM c)", "A subquery"),
            ("SELECT * FROM c WHERE udf.f(c)", "A user-defined function"),
            ("SELECT DISTINCT c.n FROM c ORDER BY c.n", "DISTINCT with ORDER BY"),
        ];
        foreach (var (query, feature) in queries)
        {
            await Fails.NotSupportedAsync(feature, () => container.GetItemQueryIterator<Item>(query).AllAsync());
        }
    }

    private async Task MetadataQueriesAsync()
    {
        using var client = endpoints.Cosmos();
        Database database = await client.CreateDatabaseIfNotExistsAsync(CosmosHelpers.DatabaseName);
        await Fails.NotSupportedAsync(
            "A query over containers",
            () => database.GetContainerQueryIterator<ContainerProperties>("SELECT * FROM c").AllAsync());
        await Fails.NotSupportedAsync(
            "A query over databases",
            () => client.GetDatabaseQueryIterator<DatabaseProperties>("SELECT * FROM c").AllAsync());
    }
}
