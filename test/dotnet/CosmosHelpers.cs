using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json;

namespace DotnetChecks;

/// <summary>A document of the checks.</summary>
public sealed record Item(
    [property: JsonProperty("id")] string Id,
    [property: JsonProperty("pk")] string Pk,
    [property: JsonProperty("n")] int N,
    [property: JsonProperty("m")] int M = 0);

internal static class CosmosHelpers
{
    public const string DatabaseName = "checks";

    public static async Task<Container> ContainerAsync(this CosmosClient client, string name, string key = "/pk")
    {
        Database database = await client.CreateDatabaseIfNotExistsAsync(DatabaseName);
        return await database.CreateContainerIfNotExistsAsync(name, key);
    }

    /// <summary>Everything a query yields, each page with a client's iterator of its own.</summary>
    public static async Task<List<T>> PagesAsync<T>(this Container container, string query, int pageSize)
    {
        var found = new List<T>();
        string? token = null;
        do
        {
            var options = new QueryRequestOptions { MaxItemCount = pageSize };
            using var iterator = container.GetItemQueryIterator<T>(query, token, options);
            var page = await iterator.ReadNextAsync();
            found.AddRange(page);
            token = page.ContinuationToken;
        }
        while (token is not null && found.Count < 10_000);
        return found;
    }

    /// <summary>Everything a query yields with one iterator.</summary>
    public static async Task<List<T>> AllAsync<T>(this FeedIterator<T> iterator)
    {
        using (iterator)
        {
            var found = new List<T>();
            while (iterator.HasMoreResults)
            {
                found.AddRange(await iterator.ReadNextAsync());
            }

            return found;
        }
    }
}

internal static partial class Fails
{
    public static async Task WithStatusAsync(HttpStatusCode status, Func<Task> action)
    {
        var failure = await Expect.FailsAsync<CosmosException>(action);
        Expect.Equal(status, failure.StatusCode, "status");
    }

    /// <summary>Refused as a feature that the embedded Cosmos DB leaves out.</summary>
    public static async Task NotSupportedAsync(string feature, Func<Task> action)
    {
        var failure = await Expect.FailsAsync<CosmosException>(action);
        Expect.Equal(HttpStatusCode.BadRequest, failure.StatusCode, "status");
        Expect.Contains(feature, failure.ToString());
        Expect.Contains("not supported", failure.ToString());
    }
}
