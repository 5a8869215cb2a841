using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.RegularExpressions;

namespace AgentDotnet;

public enum StepAction
{
    Do,
    Undo,
}

/// <summary>What the scheduler asks, as docs/schemas/agent-request.json says. Fields of later versions are ignored.</summary>
public sealed partial record AgentRequest
{
    public required int SchemaVersion { get; init; }

    public required string RequestId { get; init; }

    public required string OrderId { get; init; }

    public required long Attempt { get; init; }

    public required string StepId { get; init; }

    public required StepAction Action { get; init; }

    /// <summary>No call of the remote service is started after this time.</summary>
    public required DateTimeOffset CompleteBy { get; init; }

    /// <summary>Calls of the remote service that this request may make.</summary>
    public required int CallAllowance { get; init; }

    /// <summary>The same in every attempt. An undo has a key of its own.</summary>
    public required string IdempotencyKey { get; init; }

    /// <summary>The attempt: the remote service refuses a lower one than it has seen for the order.</summary>
    public required long FencingToken { get; init; }

    /// <summary>Text, not a Guid: it goes back exactly as it came.</summary>
    public required string ReplyToken { get; init; }

    public required JsonElement Payload { get; init; }

    public required string? Traceparent { get; init; }

    /// <summary>Reads a message body.</summary>
    /// <returns>The request, or why it is none. The words name fields and quote no values: those may be personal data.</returns>
    public static (AgentRequest? Request, Unreadable? Problem) Read(ReadOnlyMemory<byte> body)
    {
        try
        {
            using var document = JsonDocument.Parse(body);
            var root = document.RootElement;
            if (root.ValueKind != JsonValueKind.Object)
            {
                return (null, Unreadable.NoObject);
            }

            if (HasOtherVersion(root))
            {
                return (null, new Unreadable("UnsupportedSchemaVersion", "schemaVersion: this agent knows 1"));
            }

            var request = root.Deserialize<AgentRequest>(ContractJson.Options)!;
            var wrong = request.WrongFields().ToList();
            return wrong.Count == 0 ? (request, null) : (null, Unreadable.Request(string.Join(", ", wrong)));
        }
        catch (JsonException error) when (error.Path is null)
        {
            return (null, Unreadable.NoObject);
        }
        catch (JsonException error)
        {
            return (null, Unreadable.Request(error.Message));
        }
    }

    private static bool HasOtherVersion(JsonElement root) =>
        root.TryGetProperty("schemaVersion", out var version)
        && version.ValueKind == JsonValueKind.Number
        && !(version.TryGetInt32(out var number) && number == 1);

    private IEnumerable<string> WrongFields()
    {
        if (!OrderIdGrammar.IsMatch(OrderId)) yield return "orderId";
        if (!StepIdGrammar.IsMatch(StepId)) yield return "stepId";
        if (Attempt < 1) yield return "attempt";
        if (CallAllowance < 1) yield return "callAllowance";
        if (FencingToken < 1) yield return "fencingToken";
        if (!Guid.TryParseExact(ReplyToken, "D", out _)) yield return "replyToken";
        if (Payload.ValueKind != JsonValueKind.Object) yield return "payload";
        if (RequestId != $"{OrderId}.{Attempt}.{StepId}") yield return "requestId";
    }

    [GeneratedRegex("^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\\z")]
    private static partial Regex OrderIdGrammar { get; }

    [GeneratedRegex("^[a-z][a-z0-9-]{0,23}\\z")]
    private static partial Regex StepIdGrammar { get; }
}

/// <summary>Why a message is no request, for the dead-letter queue.</summary>
public sealed record Unreadable(string Reason, string Description)
{
    public static Unreadable NoObject { get; } = new("InvalidMessage", "expected a JSON object");

    public static Unreadable Request(string wrong) => new("InvalidRequest", $"not by the contract: {wrong}");
}

/// <summary>JSON as the contract has it: camelCase, words for enums, nothing guessed, absent instead of null.</summary>
public static class ContractJson
{
    public static JsonSerializerOptions Options { get; } = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase, allowIntegerValues: false) },
        RespectNullableAnnotations = true,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    };
}
