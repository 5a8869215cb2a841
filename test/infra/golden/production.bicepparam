using '../../../infra/main.bicep'

param environmentName = 'production'
param location = 'westeurope'
param principalId = '11111111-1111-1111-1111-111111111111'
param principalKind = 'ServicePrincipal'
param operatorGroupId = '22222222-2222-2222-2222-222222222222'
param operatorApiClientId = '66666666-6666-6666-6666-666666666666'
param alertEmails = ['operators@example.com']
param nodeVersion = '24'
param alwaysReady = [{ name: 'durable', instanceCount: 2 }, { name: 'function:submit', instanceCount: 1 }]
param durableBackend = 'DurableTaskScheduler'
param schedulerSku = 'Dedicated'
param schedulerCapacity = 3
param demoRemotesEnabled = false
param settingOverrides = [
  'MAX_FAILURES=5'
  'MAX_CALLS_PER_STEP=28'
  'PAYMENT_URL=https://payment.example.com/'
  'INVENTORY_URL=https://inventory.example.com/'
  'SHIPPING_URL=https://shipping.example.com/?tier=1'
  'INVOICE_URL=https://invoice.example.com/'
]
param serviceBusSku = 'Premium'
param serviceBusCapacity = 2
param additionalApplications = [
  { name: 'call-centre' }
  { name: 'web-shop', principalId: '33333333-3333-3333-3333-333333333333', principalType: 'ServicePrincipal' }
]
param externalAgents = [
  {
    name: 'payment'
    principalId: '44444444-4444-4444-4444-444444444444'
    principalType: 'ServicePrincipal'
  }
]
param cosmosCapacityMode = 'Autoscale'
param cosmosMaxThroughput = 4000
param cosmosAccountName = 'cosmos-restored'
param cosmosBackupTier = 'Continuous30Days'
param cosmosFailoverLocation = 'northeurope'
param zoneRedundant = true
param vnetEnabled = true
param logRetentionInDays = 90
param budgetAmount = 2000
param budgetStartDate = '2026-12-01'
