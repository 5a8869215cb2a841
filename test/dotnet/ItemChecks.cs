using System.Net;
using Microsoft.Azure.Cosmos;

namespace DotnetChecks;

/// <summary>Databases, containers and operations on single items.</summary>
public sealed class ItemChecks(Endpoints endpoints)
{
    public IEnumerable<Check> All =>
    [
        new("databases and containers can be created, listed, read and deleted", DatabasesAsync),
        new("a container tells its indexing policy and its key", ContainerAsync),
        new("an item can be created once, read, replaced, upserted and deleted", LifeAsync),
        new("a write with an old etag fails, and a read with the present one says not modified", EtagsAsync),
        new("of many writes with one etag exactly one succeeds", ConcurrencyAsync),
        new("a write can leave the document out of its answer", NoContentAsync),
        new("a patch changes parts where its condition holds", PatchAsync),
        new("partition keys of every kind find their items", KeysAsync),
        new("an item ends with its time to live", TimeToLiveAsync),
        new("many items are read at once", ReadManyAsync),
    ];

    private async Task DatabasesAsync()
    {
        using var client = endpoints.Cosmos();
        Database database = await client.CreateDatabaseIfNotExistsAsync("databases");
        Expect.Equal(HttpStatusCode.OK, (await client.CreateDatabaseIfNotExistsAsync("databases")).StatusCode, "again");
        await Fails.WithStatusAsync(HttpStatusCode.Conflict, () => client.CreateDatabaseAsync("databases"));
        Container container = await database.CreateContainerIfNotExistsAsync("things", "/kind");
        await Fails.WithStatusAsync(HttpStatusCode.Conflict, () => database.CreateContainerAsync("things", "/kind"));
        Expect.Sequence(["things"], await Ids(database.GetContainerQueryIterator<ContainerProperties>()), "containers");
        await container.DeleteContainerAsync();
        await Fails.WithStatusAsync(HttpStatusCode.NotFound, () => container.ReadContainerAsync());
        await database.DeleteAsync();
        await Fails.WithStatusAsync(HttpStatusCode.NotFound, () => database.ReadAsync());
    }

    private static async Task<IEnumerable<string>> Ids(FeedIterator<ContainerProperties> iterator)
    {
        using (iterator)
        {
            return (await iterator.ReadNextAsync()).Select(container => container.Id);
        }
    }

    private async Task ContainerAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("policy", "/address/zip");
        ContainerProperties properties = await container.ReadContainerAsync();
        Expect.Equal("/address/zip", properties.PartitionKeyPath, "key");
        Expect.Equal(IndexingMode.Consistent, properties.IndexingPolicy.IndexingMode, "mode");
        Expect.Sequence(["/*"], properties.IndexingPolicy.IncludedPaths.Select(path => path.Path), "included");
        Expect.Sequence(["/\"_etag\"/?"], properties.IndexingPolicy.ExcludedPaths.Select(path => path.Path), "excluded");
    }

    private async Task LifeAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("items");
        var key = new PartitionKey("k");
        var item = new Item("life", "k", 1);
        Expect.Equal(HttpStatusCode.Created, (await container.CreateItemAsync(item, key)).StatusCode, "create");
        await Fails.WithStatusAsync(HttpStatusCode.Conflict, () => container.CreateItemAsync(item, key));
        Expect.Equal(1, (await container.ReadItemAsync<Item>("life", key)).Resource.N, "read");
        await container.ReplaceItemAsync(item with { N = 2 }, "life", key);
        await container.UpsertItemAsync(item with { N = 3 }, key);
        Expect.Equal(3, (await container.ReadItemAsync<Item>("life", key)).Resource.N, "upserted");
        Expect.Equal(HttpStatusCode.NoContent, (await container.DeleteItemAsync<Item>("life", key)).StatusCode, "delete");
        await Fails.WithStatusAsync(HttpStatusCode.NotFound, () => container.ReadItemAsync<Item>("life", key));
        await Fails.WithStatusAsync(HttpStatusCode.NotFound, () => container.ReplaceItemAsync(item, "life", key));
    }

    private async Task EtagsAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("items");
        var key = new PartitionKey("k");
        var item = new Item("etags", "k", 1);
        var first = await container.CreateItemAsync(item, key);
        var second = await container.ReplaceItemAsync(
            item with { N = 2 },
            item.Id,
            key,
            new ItemRequestOptions { IfMatchEtag = first.ETag });
        var stale = new ItemRequestOptions { IfMatchEtag = first.ETag };
        await Fails.WithStatusAsync(
            HttpStatusCode.PreconditionFailed,
            () => container.ReplaceItemAsync(item with { N = 3 }, item.Id, key, stale));
        await Fails.WithStatusAsync(
            HttpStatusCode.PreconditionFailed,
            () => container.DeleteItemAsync<Item>(item.Id, key, stale));
        var known = new ItemRequestOptions { IfNoneMatchEtag = second.ETag };
        using var unchanged = await container.ReadItemStreamAsync(item.Id, key, known);
        Expect.Equal(HttpStatusCode.NotModified, unchanged.StatusCode, "read of the present version");
    }

    private async Task ConcurrencyAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("items");
        var key = new PartitionKey("k");
        var item = new Item("race", "k", 0);
        var created = await container.CreateItemAsync(item, key);
        var options = new ItemRequestOptions { IfMatchEtag = created.ETag };
        var statuses = await Task.WhenAll(Enumerable.Range(1, 16).Select(async number =>
        {
            try
            {
                return (await container.ReplaceItemAsync(item with { N = number }, item.Id, key, options)).StatusCode;
            }
            catch (CosmosException failure)
            {
                return failure.StatusCode;
            }
        }));
        Expect.Equal(1, statuses.Count(status => status == HttpStatusCode.OK), "successes");
        Expect.Equal(15, statuses.Count(status => status == HttpStatusCode.PreconditionFailed), "failures");
    }

    private async Task NoContentAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("items");
        var key = new PartitionKey("k");
        var options = new ItemRequestOptions { EnableContentResponseOnWrite = false };
        var created = await container.CreateItemAsync(new Item("quiet", "k", 1), key, options);
        Expect.Equal(null, created.Resource, "document");
        Expect.Equal(HttpStatusCode.Created, created.StatusCode, "status");
        Expect.Equal(false, string.IsNullOrEmpty(created.ETag), "missing etag");
        Expect.Equal(null, (await container.UpsertItemAsync(new Item("quiet", "k", 2), key, options)).Resource, "upsert");
        Expect.Equal(2, (await container.ReadItemAsync<Item>("quiet", key)).Resource.N, "read");
    }

    private async Task PatchAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("items");
        var key = new PartitionKey("k");
        await container.CreateItemAsync(new Item("patch", "k", 1), key);
        PatchOperation[] changes = [PatchOperation.Increment("/n", 4), PatchOperation.Set("/note", "changed")];
        var met = new PatchItemRequestOptions { FilterPredicate = "FROM c WHERE c.n = 1" };
        Expect.Equal(5, (await container.PatchItemAsync<Item>("patch", key, changes, met)).Resource.N, "patched");
        await Fails.WithStatusAsync(
            HttpStatusCode.PreconditionFailed,
            () => container.PatchItemAsync<Item>("patch", key, changes, met));
    }

    private async Task KeysAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("keys");
        (object Document, PartitionKey Key)[] items =
        [
            (new { id = "1", pk = "text" }, new PartitionKey("text")),
            (new { id = "2", pk = 12.5 }, new PartitionKey(12.5)),
            (new { id = "3", pk = true }, new PartitionKey(true)),
            (new { id = "4", pk = (string?)null }, PartitionKey.Null),
            (new { id = "5" }, PartitionKey.None),
        ];
        foreach (var (document, key) in items)
        {
            await container.CreateItemAsync(document, key);
        }

        foreach (var (index, (_, key)) in items.Index())
        {
            var found = await container.ReadItemAsync<Dictionary<string, object>>($"{index + 1}", key);
            Expect.Equal($"{index + 1}", found.Resource["id"], "id");
        }
    }

    private async Task TimeToLiveAsync()
    {
        using var client = endpoints.Cosmos();
        Database database = await client.CreateDatabaseIfNotExistsAsync(CosmosHelpers.DatabaseName);
        Container container = await database.CreateContainerIfNotExistsAsync(
            new ContainerProperties("short-lived", "/pk") { DefaultTimeToLive = -1 });
        var key = new PartitionKey("k");
        await container.CreateItemAsync(new { id = "short", pk = "k", ttl = 1 }, key);
        await container.CreateItemAsync(new { id = "long", pk = "k" }, key);
        while (true)
        {
            using var answer = await container.ReadItemStreamAsync("short", key);
            if (answer.StatusCode == HttpStatusCode.NotFound)
            {
                break;
            }

            await Task.Delay(50);
        }

        await container.ReadItemAsync<Dictionary<string, object>>("long", key);
    }

    private async Task ReadManyAsync()
    {
        using var client = endpoints.Cosmos();
        var container = await client.ContainerAsync("many");
        List<(string, PartitionKey)> wanted = [];
        foreach (var number in Enumerable.Range(0, 30))
        {
            var item = new Item($"m{number}", $"k{number % 4}", number);
            await container.CreateItemAsync(item, new PartitionKey(item.Pk));
            wanted.Add((item.Id, new PartitionKey(item.Pk)));
        }

        var found = await container.ReadManyItemsAsync<Item>(wanted);
        Expect.Equal(30, found.Count, "items");
    }
}
