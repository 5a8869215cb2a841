// The whole system in one resource group. `azd up` deploys it; every parameter has a working default.
//
// M1  No key and no connection string: every service refuses local authentication, the app uses its identity.
// M2  A mix that cannot work is refused here, before anything is created.
// M3  The same parameters give the same template: nothing depends on the clock or on chance.

targetScope = 'subscription'

import { alwaysReadyGroup } from 'modules/function-app.bicep'
import { principalType } from 'modules/types.bicep'
import {
  application
  applications as topologyApplications
  databaseName
  deadLetterQueueNames
  deadLetterQueueSuffix
  externalAgent
  orderQueueName
  statusQueuePrefix
  workQueueNames
} from 'modules/topology.bicep'

@minLength(1)
@maxLength(64)
@description('Name of the azd environment; names of resources derive from it.')
param environmentName string

@metadata({ azd: { type: 'location' } })
@description('Region of every resource. Only regions that offer Flex Consumption are allowed.')
@allowed([
  'australiaeast'
  'australiasoutheast'
  'brazilsouth'
  'canadacentral'
  'centralindia'
  'centralus'
  'eastasia'
  'eastus'
  'eastus2'
  'francecentral'
  'germanywestcentral'
  'italynorth'
  'japaneast'
  'koreacentral'
  'northcentralus'
  'northeurope'
  'norwayeast'
  'southafricanorth'
  'southcentralus'
  'southeastasia'
  'southindia'
  'spaincentral'
  'swedencentral'
  'uaenorth'
  'uksouth'
  'ukwest'
  'westcentralus'
  'westeurope'
  'westus'
  'westus2'
  'westus3'
])
param location string

// ── People ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
@description('Object id of who deploys. Gets the rights of the first application, for the smoke order and the command line; empty: nobody does.')
param principalId string = ''
@description('What principalId is. A pipeline deploys as a ServicePrincipal; a wrong kind fails the deployment.')
param principalKind principalType = 'User'
@description('Object id of the operators\' Entra group: reads state records, dead letters and telemetry. Empty: no such group.')
param operatorGroupId string = ''
@description('Client id of an Entra application that callers of the operator API then need a token for. Empty: function keys alone.')
param operatorApiClientId string = ''
@description('Addresses that alerts and the budget are mailed to.')
param alertEmails string[] = []

// ── Compute ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
param nodeVersion ('22' | '24') = '24'
param instanceMemoryMB (512 | 2048 | 4096) = 2048
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40
@description('Instances kept warm, e.g. [{"name":"durable","instanceCount":1}]. None by default: an idle system costs next to nothing but starts slowly.')
param alwaysReady alwaysReadyGroup[] = []
param durableBackend ('AzureStorage' | 'DurableTaskScheduler') = 'AzureStorage'
param schedulerSku ('Consumption' | 'Dedicated') = 'Consumption'
@minValue(1)
param schedulerCapacity int = 1
@description('Deploy the demo remote services with the app. Set to false once your agents call real ones.')
param demoRemotesEnabled bool = true
@description('Settings to run with other values than app-settings.json, and addresses of real remote services, as NAME=value.')
param settingOverrides string[] = []

// ── Messaging ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
param serviceBusSku ('Standard' | 'Premium') = 'Standard'
@description('Messaging units; Premium only.')
param serviceBusCapacity (1 | 2 | 4 | 8 | 16) = 1
@description('How the scale controller may read message counts; none: slow, guessed scaling.')
param serviceBusScaleRole ('custom' | 'dataOwner' | 'none') = 'custom'
@description('Applications beside those of topology.json, and principals for those in it, by name.')
param additionalApplications application[] = []
@description('Agents that run in their own app under their own identity.')
param externalAgents externalAgent[] = []

// ── Data ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
@description('Chosen when the account is created.')
param cosmosCapacityMode ('Serverless' | 'Autoscale') = 'Serverless'
@minValue(1000)
param cosmosMaxThroughput int = 1000
@description('Account to use instead of the one named after the environment: a restored one. Empty: the usual one.')
param cosmosAccountName string = ''
param cosmosBackupTier ('Continuous7Days' | 'Continuous30Days') = 'Continuous7Days'
@description('Second region of the state store, for reads and failover; Autoscale only.')
param cosmosFailoverLocation string = ''

// ── Resilience and network ──────────────────────────────────────────────────────────────────────────────────────────────────────────
param zoneRedundant bool = false
@description('Virtual network and private endpoints for storage, Service Bus and Cosmos DB.')
param vnetEnabled bool = false

// ── Watching ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
@minValue(30)
@maxValue(730)
param logRetentionInDays int = 30
@minValue(1)
param logDailyQuotaGb int = 5
@description('Monthly budget in the currency of the subscription; 0: no budget.')
@minValue(0)
param budgetAmount int = 0
@description('First day of the budget\'s first month, YYYY-MM-01. The preprovision hook sets it once.')
param budgetStartDate string = ''

// ── M2: what cannot work ────────────────────────────────────────────────────────────────────────────────────────────────────────────
var overriddenNames = map(settingOverrides, item => split(item, '=')[0])
var regionsWithoutZones = ['australiasoutheast', 'northcentralus', 'southindia', 'ukwest', 'westcentralus', 'westus']
var applicationNames = union(topologyApplications, map(additionalApplications, item => item.name))
var additionalNames = map(additionalApplications, item => item.name)
var agentNames = map(externalAgents, item => item.name)
var addressSettings = map(loadJsonContent('remote-services.json'), name => '${toUpper(name)}_URL')
var tuningSettings = loadJsonContent('app-settings.json')
var nameCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789-'

@description('Whether a name has only characters that a queue name may be made of, and does not begin with a hyphen.')
func isGoodName(name string, characters string) bool =>
  !startsWith(name, '-') && empty(filter(
    range(0, length(name)),
    index =>
      !contains(characters, substring(name, index, 1)) || toLower(substring(name, index, 1)) != substring(
        name,
        index,
        1
      )
  ))

var problems = concat(
  vnetEnabled && serviceBusSku != 'Premium'
    ? ['VNET_ENABLED=true needs SERVICE_BUS_SKU=Premium: Standard has no private endpoints.']
    : [],
  zoneRedundant && contains(regionsWithoutZones, location)
    ? [
        'ZONE_REDUNDANT=true does not work in ${location}: the region has no availability zones. Choose another AZURE_LOCATION.'
      ]
    : [],
  !empty(cosmosFailoverLocation) && cosmosCapacityMode != 'Autoscale'
    ? ['COSMOS_FAILOVER_LOCATION needs COSMOS_CAPACITY_MODE=Autoscale: a serverless account has one region.']
    : [],
  !empty(cosmosFailoverLocation) && cosmosFailoverLocation == location
    ? ['COSMOS_FAILOVER_LOCATION must differ from AZURE_LOCATION.']
    : [],
  map(
    filter(addressSettings, name => !demoRemotesEnabled && !contains(overriddenNames, name)),
    name => 'DEMO_REMOTES_ENABLED=false needs ${name}, the address of the real service, in SETTING_OVERRIDES.'
  ),
  map(
    filter(
      settingOverrides,
      item => !contains(item, '=') || !contains(union(objectKeys(tuningSettings), addressSettings), split(item, '=')[0])
    ),
    item => 'SETTING_OVERRIDES: "${item}" is not NAME=value with a name of app-settings.json or of a remote service.'
  ),
  !empty(operatorApiClientId) && empty(operatorGroupId)
    ? ['OPERATOR_API_CLIENT_ID needs OPERATOR_GROUP_ID, the group that may call the operator API.']
    : [],
  cosmosMaxThroughput % 1000 != 0 ? ['COSMOS_MAX_THROUGHPUT must be a multiple of 1000.'] : [],
  budgetAmount > 0 && (length(budgetStartDate) != 10 || !endsWith(budgetStartDate, '-01'))
    ? ['BUDGET_AMOUNT needs BUDGET_START_DATE, the first day of a month as YYYY-MM-01.']
    : [],
  map(
    filter(additionalNames, name => !isGoodName(name, nameCharacters)),
    name =>
      'ADDITIONAL_APPLICATIONS: "${name}" is no application name: use 1 to 40 lower-case letters, digits or hyphens.'
  ),
  length(union(additionalNames, [])) != length(additionalNames) ? ['ADDITIONAL_APPLICATIONS names an application twice.'] : [],
  length(union(agentNames, [])) != length(agentNames) ? ['EXTERNAL_AGENTS names an agent twice.'] : [],
  map(
    filter(
      agentNames,
      name => !contains(workQueueNames, '${name}-requests') || !contains(workQueueNames, '${name}-replies')
    ),
    name => 'EXTERNAL_AGENTS: topology.json has no queues ${name}-requests and ${name}-replies.'
  )
)
var checkedName = empty(problems) ? environmentName : fail(join(problems, ' '))

// ── Names ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
var token = toLower(uniqueString(subscription().id, environmentName, location))
var tags = { 'azd-env-name': environmentName }
var appName = 'func-${token}'
var deploymentContainerName = 'app-package-${token}'
var identityName = 'id-app-${token}'
var namespaceName = 'sbns-${token}'
var usesScheduler = durableBackend == 'DurableTaskScheduler'
var publicAccess = vnetEnabled ? 'Disabled' : 'Enabled'

resource group 'Microsoft.Resources/resourceGroups@2024-11-01' = {
  name: 'rg-${checkedName}'
  location: location
  tags: tags
}

// ── Identity and storage first: their role assignments need minutes to take effect ──────────────────────────────────────────────────
module identity 'modules/identity.bicep' = {
  scope: group
  params: { name: identityName, location: location, tags: tags }
}

module storage 'modules/storage.bicep' = {
  scope: group
  params: {
    name: 'st${token}'
    location: location
    tags: tags
    deploymentContainerName: deploymentContainerName
    principalId: identity.outputs.principalId
    zoneRedundant: zoneRedundant
    publicNetworkAccess: publicAccess
    hostsTaskHub: !usesScheduler
  }
}

module monitoring 'modules/monitoring.bicep' = {
  scope: group
  params: {
    workspaceName: 'log-${token}'
    insightsName: 'appi-${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    operatorPrincipalId: operatorGroupId
    retentionInDays: logRetentionInDays
    dailyQuotaGb: logDailyQuotaGb
  }
}

// ── Service Bus and who may use which queue ─────────────────────────────────────────────────────────────────────────────────────────
module serviceBus 'modules/service-bus.bicep' = {
  scope: group
  params: {
    name: namespaceName
    location: location
    tags: tags
    sku: serviceBusSku
    capacity: serviceBusCapacity
    publicNetworkAccess: publicAccess
    applicationNames: applicationNames
    workspaceId: monitoring.outputs.workspaceId
  }
}

// The app neither reads the requests of an external agent nor answers for it.
var requestQueuesOfOthers = map(agentNames, name => '${name}-requests')
var replyQueuesOfOthers = map(agentNames, name => '${name}-replies')

module appQueueAccess 'modules/queue-access.bicep' = {
  scope: group
  params: {
    namespaceName: serviceBus.outputs.name
    principalId: identity.outputs.principalId
    principalKind: 'ServicePrincipal'
    receiveFrom: concat(filter(workQueueNames, name => !contains(requestQueuesOfOthers, name)), deadLetterQueueNames)
    sendTo: concat(
      filter(workQueueNames, name => !contains(replyQueuesOfOthers, name)),
      deadLetterQueueNames,
      map(applicationNames, name => '${statusQueuePrefix}${name}')
    )
  }
}

module scaleAccess 'modules/scale-access.bicep' = if (serviceBusScaleRole != 'none') {
  scope: group
  params: {
    namespaceName: serviceBus.outputs.name
    principalId: identity.outputs.principalId
    role: serviceBusScaleRole == 'dataOwner' ? 'dataOwner' : 'custom'
  }
}

module applicationAccess 'modules/application.bicep' = [
  for name in applicationNames: {
    scope: group
    params: {
      name: name
      principalId: first(filter(additionalApplications, item => item.name == name)).?principalId ?? ''
      principalKind: first(filter(additionalApplications, item => item.name == name)).?principalType ?? 'ServicePrincipal'
      identityName: 'id-application-${name}-${token}'
      location: location
      tags: tags
      namespaceName: serviceBus.outputs.name
    }
  }
]

module agentAccess 'modules/queue-access.bicep' = [
  for agent in externalAgents: {
    scope: group
    params: {
      namespaceName: serviceBus.outputs.name
      principalId: agent.principalId
      principalKind: agent.principalType
      receiveFrom: ['${agent.name}-requests']
      sendTo: ['${agent.name}-replies', '${agent.name}-requests${deadLetterQueueSuffix}']
    }
  }
]

module deployerAccess 'modules/queue-access.bicep' = if (!empty(principalId)) {
  scope: group
  params: {
    namespaceName: serviceBus.outputs.name
    principalId: principalId
    principalKind: principalKind
    receiveFrom: ['${statusQueuePrefix}${applicationNames[0]}']
    sendTo: [orderQueueName]
  }
}

module operatorQueueAccess 'modules/queue-access.bicep' = if (!empty(operatorGroupId)) {
  scope: group
  params: {
    namespaceName: serviceBus.outputs.name
    principalId: operatorGroupId
    principalKind: 'Group'
    receiveFrom: deadLetterQueueNames
    sendTo: []
  }
}

// ── Cosmos DB ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
module cosmosDb 'modules/cosmos-db.bicep' = {
  scope: group
  params: {
    name: empty(cosmosAccountName) ? 'cosmos-${token}' : cosmosAccountName
    location: location
    tags: tags
    capacityMode: cosmosCapacityMode
    maxThroughput: cosmosMaxThroughput
    failoverLocation: cosmosFailoverLocation
    zoneRedundant: zoneRedundant
    backupTier: cosmosBackupTier
    publicNetworkAccess: publicAccess
    withDemoContainers: demoRemotesEnabled
    workspaceId: monitoring.outputs.workspaceId
  }
}

module cosmosAccess 'modules/cosmos-access.bicep' = {
  scope: group
  params: {
    accountName: cosmosDb.outputs.name
    principalId: identity.outputs.principalId
    operatorPrincipalId: operatorGroupId
    withDemoContainers: demoRemotesEnabled
  }
}

// ── Durable Task Scheduler ──────────────────────────────────────────────────────────────────────────────────────────────────────────
module scheduler 'modules/durable-task-scheduler.bicep' = if (usesScheduler) {
  scope: group
  params: {
    name: 'dts-${token}'
    taskHubName: 'orders'
    location: location
    tags: tags
    sku: schedulerSku
    capacity: schedulerCapacity
    retentionInDays: schedulerSku == 'Dedicated' ? 90 : 30
    principalId: identity.outputs.principalId
    operatorPrincipalId: operatorGroupId
  }
}

// ── Network ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
module network 'modules/network.bicep' = if (vnetEnabled) {
  scope: group
  params: {
    name: 'vnet-${token}'
    location: location
    tags: tags
    storageName: storage.outputs.name
    namespaceName: serviceBus.outputs.name
    cosmosAccountName: cosmosDb.outputs.name
  }
}

// ── The function app ────────────────────────────────────────────────────────────────────────────────────────────────────────────────
module app 'modules/function-app.bicep' = {
  scope: group
  params: {
    name: appName
    planName: 'plan-${token}'
    location: location
    tags: tags
    serviceName: 'app'
    identityId: identity.outputs.id
    nodeVersion: nodeVersion
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    alwaysReady: alwaysReady
    zoneRedundant: zoneRedundant
    subnetId: vnetEnabled ? network!.outputs.appSubnetId : ''
    operatorApiClientId: operatorApiClientId
    operatorGroupId: operatorGroupId
    openPaths: concat(['/api/health'], demoRemotesEnabled ? ['/api/demo/*'] : [])
    deploymentContainerUrl: '${storage.outputs.blobEndpoint}${deploymentContainerName}'
    ownAddressSettings: toObject(
      filter(addressSettings, name => !contains(overriddenNames, name)),
      name => name,
      name => 'api/demo/${toLower(split(name, '_')[0])}'
    )
    settings: union(
      {
        AzureWebJobsStorage__blobServiceUri: storage.outputs.blobEndpoint
        AzureWebJobsStorage__queueServiceUri: storage.outputs.queueEndpoint
        AzureWebJobsStorage__tableServiceUri: storage.outputs.tableEndpoint
        AzureWebJobsStorage__credential: 'managedidentity'
        AzureWebJobsStorage__clientId: identity.outputs.clientId
        APPLICATIONINSIGHTS_CONNECTION_STRING: monitoring.outputs.insightsConnectionString
        APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identity.outputs.clientId};Authorization=AAD'
        AZURE_CLIENT_ID: identity.outputs.clientId
        ServiceBusConnection__fullyQualifiedNamespace: serviceBus.outputs.fullyQualifiedNamespace
        ServiceBusConnection__credential: 'managedidentity'
        ServiceBusConnection__clientId: identity.outputs.clientId
        COSMOS_ENDPOINT: cosmosDb.outputs.endpoint
        COSMOS_DATABASE: databaseName
        APPLICATIONS: join(applicationNames, ',')
        DEMO_REMOTES_ENABLED: demoRemotesEnabled ? 'true' : 'false'
      },
      tuningSettings,
      toObject(settingOverrides, item => split(item, '=')[0], item => substring(item, indexOf(item, '=') + 1)),
      usesScheduler
        ? {
            DURABLE_TASK_SCHEDULER_CONNECTION_STRING: 'Endpoint=${scheduler!.outputs.endpoint};Authentication=ManagedIdentity;ClientID=${identity.outputs.clientId}'
            TASKHUB_NAME: scheduler!.outputs.taskHubName
          }
        : {},
      // An external agent takes the place of the function of the same name.
      toObject(agentNames, name => 'AzureWebJobs.${name}-agent.Disabled', name => 'true')
    )
  }
  dependsOn: [appQueueAccess, cosmosAccess]
}

// ── Watching ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
module alerts 'modules/alerts.bicep' = {
  scope: group
  params: {
    location: location
    tags: tags
    actionGroupName: 'ag-${token}'
    emails: alertEmails
    workspaceId: monitoring.outputs.workspaceId
    namespaceId: serviceBus.outputs.id
    cosmosAccountId: cosmosDb.outputs.id
    applicationNames: applicationNames
  }
}

module workbook 'modules/workbook.bicep' = {
  scope: group
  params: { location: location, tags: tags, workspaceId: monitoring.outputs.workspaceId }
}

module budget 'modules/budget.bicep' = if (budgetAmount > 0) {
  scope: group
  params: {
    name: 'budget-${token}'
    amount: budgetAmount
    startDate: budgetStartDate
    emails: alertEmails
    contactRoles: ['Owner']
  }
}

// ── What azd, the hooks and the command line need to know ───────────────────────────────────────────────────────────────────────────
output AZURE_LOCATION string = location
output AZURE_TENANT_ID string = tenant().tenantId
output AZURE_RESOURCE_GROUP string = group.name
output SERVICE_APP_NAME string = app.outputs.name
output SERVICE_APP_URI string = 'https://${app.outputs.hostName}'
output SERVICE_BUS_NAMESPACE string = serviceBus.outputs.fullyQualifiedNamespace
output COSMOS_ENDPOINT string = cosmosDb.outputs.endpoint
output COSMOS_DATABASE string = databaseName
output ORDER_QUEUE string = orderQueueName
output SMOKE_APPLICATION string = empty(principalId) ? '' : applicationNames[0]
output DURABLE_BACKEND string = durableBackend
output STORAGE_ACCOUNT_NAME string = storage.outputs.name
