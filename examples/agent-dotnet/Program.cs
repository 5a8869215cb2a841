// An agent in C#: it serves the payment step of the order workflow over its pair of queues.
//
//   payment-requests ──► QueueListener ──► PaymentAgent ──► IRemoteService (here: SimulatedPaymentProvider)
//   payment-replies  ◄──      │
//
// To make it yours: replace SimulatedPaymentProvider by a class that calls your service. The rest is the contract.

using AgentDotnet;

var builder = WebApplication.CreateBuilder(args);
var settings = AgentSettings.Read(builder.Configuration);

builder.Services.AddSingleton(settings);
builder.Services.AddSingleton(TimeProvider.System);
builder.Services.AddSingleton(_ => settings.CreateClient());
builder.Services.AddSingleton(_ => Ledger.Open(settings.JournalFile));
builder.Services.AddSingleton<IRemoteService, SimulatedPaymentProvider>();
builder.Services.AddSingleton<PaymentAgent>();
builder.Services.AddHostedService<QueueListener>();

var app = builder.Build();

// What the simulated provider has done, in the form that `npm run verify-agent -- --ledger-url …` reads.
app.MapGet("/ledger/{orderId}", (string orderId, Ledger ledger) => ledger.EntriesOf(orderId));

await app.RunAsync();
