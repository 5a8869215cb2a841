using Microsoft.Azure.Cosmos;
using Microsoft.Azure.Cosmos.Linq;
using Newtonsoft.Json.Linq;

namespace DotnetChecks;

/// <summary>Queries over several physical partitions.</summary>
public sealed class QueryChecks(Endpoints endpoints)
{
    private const int Count = 120;

    public IEnumerable<Check> All =>
    [
        new("queries yield what they should", ResultsAsync),
        new("an ordered query goes on from its token with a new iterator, without a gap or a repetition", OrderedAsync),
        new("a plain query goes on from its token with a new iterator", PlainAsync),
        new("OFFSET and LIMIT, TOP and DISTINCT count over all partitions", WindowsAsync),
        new("aggregates and groups see all partitions", AggregatesAsync),
        new("a query of one partition key sees that key alone", OneKeyAsync),
        new("LINQ is translated and answered", LinqAsync),
        new("feed ranges divide the items", FeedRangesAsync),
        new("queries that are wrong are refused with their reason", WrongAsync),
    ];

    private static async Task<Container> FilledAsync(CosmosClient client)
    {
        Database database = await client.CreateDatabaseIfNotExistsAsync(CosmosHelpers.DatabaseName);
        var properties = new ContainerProperties("queries", "/pk");
        properties.IndexingPolicy.IncludedPaths.Add(new IncludedPath { Path = "/*" });
        properties.IndexingPolicy.CompositeIndexes.Add(
            [Ordered("/n", CompositePathSortOrder.Ascending), Ordered("/m", CompositePathSortOrder.Descending)]);
        properties.IndexingPolicy.CompositeIndexes.Add(
            [Ordered("/n", CompositePathSortOrder.Ascending), Ordered("/m", CompositePathSortOrder.Ascending)]);
        var created = await database.CreateContainerIfNotExistsAsync(properties);
        if (created.StatusCode == System.Net.HttpStatusCode.Created)
        {
            foreach (var number in Enumerable.Range(0, Count))
            {
                var item = new Item($"i{number}", $"p{number % 7}", number % 10, number % 4);
                await created.Container.CreateItemAsync(item, new PartitionKey(item.Pk));
            }
        }

        return created.Container;
    }

    private static CompositePath Ordered(string path, CompositePathSortOrder order) => new() { Path = path, Order = order };

    private async Task ResultsAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        (string Query, int Expected)[] queries =
        [
            ("SELECT * FROM c", 120),
            ("SELECT VALUE c.id FROM c WHERE c.n = 3", 12),
            ("SELECT c.id, c.n + 1 AS next FROM c WHERE c.n IN (1, 2)", 24),
            ("SELECT * FROM c WHERE c.n BETWEEN 2 AND 4", 36),
            ("SELECT * FROM c WHERE c.id LIKE 'i11%'", 11),
            ("SELECT * FROM c WHERE STARTSWITH(c.id, 'i11')", 11),
            ("SELECT * FROM c WHERE IS_DEFINED(c.missing)", 0),
            ("SELECT VALUE {'a': c.n, 'b': [c.m]} FROM c WHERE c.m = 0 ORDER BY c.n", 30),
            ("SELECT VALUE c.n > 5 ? 'high' : 'low' FROM c", 120),
        ];
        foreach (var (query, expected) in queries)
        {
            Expect.Equal(expected, (await container.GetItemQueryIterator<JToken>(query).AllAsync()).Count, query);
        }
    }

    private async Task OrderedAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        foreach (var order in new[] { "c.n", "c.n DESC", "c.id", "c.n, c.m DESC", "c.n DESC, c.m", "c.n DESC, c.m DESC" })
        {
            foreach (var pageSize in new[] { 1, 13, 50 })
            {
                var found = await container.PagesAsync<Item>($"SELECT * FROM c ORDER BY {order}", pageSize);
                Expect.Equal(Count, found.Count, $"items by {order}, {pageSize} a page");
                Expect.Equal(Count, found.Select(item => item.Id).Distinct().Count(), $"different items by {order}");
                Expect.Sequence(Sorted(found, order), found.Select(item => $"{item.N}.{item.M}"), $"order by {order}");
            }
        }
    }

    private static IEnumerable<string> Sorted(IEnumerable<Item> items, string order)
    {
        var sorted = order switch
        {
            "c.n" => items.OrderBy(item => item.N),
            "c.n DESC" => items.OrderByDescending(item => item.N),
            "c.id" => items.OrderBy(item => item.Id, StringComparer.Ordinal),
            "c.n, c.m DESC" => items.OrderBy(item => item.N).ThenByDescending(item => item.M),
            "c.n DESC, c.m" => items.OrderByDescending(item => item.N).ThenBy(item => item.M),
            _ => items.OrderByDescending(item => item.N).ThenByDescending(item => item.M),
        };
        return sorted.Select(item => $"{item.N}.{item.M}");
    }

    private async Task PlainAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        var found = await container.PagesAsync<Item>("SELECT * FROM c WHERE c.n < 5", 7);
        Expect.Equal(60, found.Select(item => item.Id).Distinct().Count(), "different items");
        Expect.Equal(60, found.Count, "items");
    }

    private async Task WindowsAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        (string Query, string Expected)[] queries =
        [
            ("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC", "9,9,9"),
            ("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 11 LIMIT 3", "0,1,1"),
            ("SELECT DISTINCT VALUE c.m FROM c", "0,1,2,3"),
        ];
        foreach (var (query, expected) in queries)
        {
            var found = await container.GetItemQueryIterator<int>(query).AllAsync();
            var shown = query.Contains("DISTINCT", StringComparison.Ordinal) ? found.Order() : found.AsEnumerable();
            Expect.Equal(expected, string.Join(",", shown), query);
        }
    }

    private async Task AggregatesAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        (string Query, double Expected)[] queries =
        [
            ("SELECT VALUE COUNT(1) FROM c", 120),
            ("SELECT VALUE SUM(c.n) FROM c", 540),
            ("SELECT VALUE AVG(c.n) FROM c", 4.5),
            ("SELECT VALUE MIN(c.n) FROM c WHERE c.n > 2", 3),
            ("SELECT VALUE MAX(c.n) FROM c", 9),
            ("SELECT VALUE COUNT(1) FROM c ORDER BY c.n", 120),
        ];
        foreach (var (query, expected) in queries)
        {
            var found = await container.GetItemQueryIterator<double>(query).AllAsync();
            Expect.Sequence([expected], found, query);
        }

        var groups = await container
            .GetItemQueryIterator<JObject>("SELECT c.m, COUNT(1) AS k, MAX(c.n) AS top FROM c GROUP BY c.m")
            .AllAsync();
        Expect.Sequence(
            ["0 30 8", "1 30 9", "2 30 8", "3 30 9"],
            groups.Select(group => $"{group["m"]} {group["k"]} {group["top"]}").Order(),
            "groups");
    }

    private async Task OneKeyAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        var options = new QueryRequestOptions { PartitionKey = new PartitionKey("p1"), MaxItemCount = 5 };
        var query = new QueryDefinition("SELECT * FROM c WHERE c.n >= @least ORDER BY c.n").WithParameter("@least", 4);
        var found = await container.GetItemQueryIterator<Item>(query, requestOptions: options).AllAsync();
        Expect.Equal(true, found.All(item => item.Pk == "p1" && item.N >= 4), "filter");
        Expect.Sequence(found.Select(item => item.N).Order(), found.Select(item => item.N), "order");
        Expect.Equal(10, found.Count, "items");
    }

    private async Task LinqAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        var serializer = new CosmosLinqSerializerOptions { PropertyNamingPolicy = CosmosPropertyNamingPolicy.CamelCase };
        var items = container.GetItemLinqQueryable<Item>(linqSerializerOptions: serializer);
        var found = await items
            .Where(item => item.N > 6 && item.Pk.StartsWith("p1"))
            .OrderByDescending(item => item.N)
            .Select(item => item.N)
            .ToFeedIterator()
            .AllAsync();
        Expect.Sequence(found.OrderDescending(), found, "order");
        Expect.Equal(36, (int)await items.Where(item => item.N > 6).CountAsync(), "count");
    }

    private async Task FeedRangesAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        var found = new List<Item>();
        foreach (var range in await container.GetFeedRangesAsync())
        {
            var query = new QueryDefinition("SELECT * FROM c");
            found.AddRange(await container.GetItemQueryIterator<Item>(range, query).AllAsync());
        }

        Expect.Equal(Count, found.Select(item => item.Id).Distinct().Count(), "different items");
        Expect.Equal(Count, found.Count, "items");
    }

    private async Task WrongAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await FilledAsync(client);
        string[] queries = ["SELECT * FROM", "SELECT * FROM c WHERE x.a = 1", "SELECT * FROM c WHERE NO_SUCH(c.a)"];
        foreach (var query in queries)
        {
            await Fails.WithStatusAsync(
                System.Net.HttpStatusCode.BadRequest,
                () => container.GetItemQueryIterator<Item>(query).AllAsync());
        }
    }
}
