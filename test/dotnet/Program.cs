// Runs Microsoft's clients for .NET against the embedded Service Bus and the embedded Cosmos DB, and prints one line a check:
//
//   ok <name>
//   failed <name>: <why>
//
// The exit code is the number of failed checks. The endpoints come from the environment; test/integration/dotnet-clients.test.ts
// starts both servers with the queues that the checks name, and runs this program where a .NET SDK is present.

using DotnetChecks;

var endpoints = Endpoints.FromEnvironment();
IReadOnlyList<Check> checks =
[
    .. new SendChecks(endpoints).All,
    .. new ReceiveChecks(endpoints).All,
    .. new SettleChecks(endpoints).All,
    .. new QueueChecks(endpoints).All,
    .. new ServiceBusRefusals(endpoints).All,
    .. new ItemChecks(endpoints).All,
    .. new QueryChecks(endpoints).All,
    .. new CosmosRefusals(endpoints).All,
];

var failed = 0;
foreach (var check in checks)
{
    if (!await check.RunAsync())
    {
        failed++;
    }
}

return failed;
