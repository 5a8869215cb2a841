// Durable Task Scheduler, the alternative to the task hub in the storage account.

import { resourceTags, roles } from 'types.bicep'

param name string
param taskHubName string
param location string
param tags resourceTags
param sku ('Consumption' | 'Dedicated')
@description('Capacity units; Dedicated only. High availability needs three.')
param capacity int
@description('Days that finished orchestrations are kept. Longer than the dead letters may wait, so that evidence outlives them.')
param retentionInDays int
param principalId string
@description('The operators\' group, which may use the dashboard; empty: nobody.')
param operatorPrincipalId string

resource scheduler 'Microsoft.DurableTask/schedulers@2026-02-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    // An empty list would deny everyone; access is by Entra role all the same.
    ipAllowlist: ['0.0.0.0/0']
    sku: union({ name: sku }, sku == 'Dedicated' ? { capacity: capacity } : {})
  }

  resource taskHub 'taskHubs' = {
    name: taskHubName
    properties: {}
  }

  resource retention 'retentionPolicies' = {
    name: 'default'
    properties: {
      retentionPolicies: [{ retentionPeriodInDays: retentionInDays }]
    }
  }
}

resource appAssignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: scheduler::taskHub
  name: guid(scheduler::taskHub.id, principalId, roles.durableTaskDataContributor)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roles.durableTaskDataContributor
    )
  }
}

resource operatorAssignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(operatorPrincipalId)) {
  scope: scheduler::taskHub
  name: guid(scheduler::taskHub.id, operatorPrincipalId, roles.durableTaskDataContributor)
  properties: {
    principalId: operatorPrincipalId
    principalType: 'Group'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roles.durableTaskDataContributor
    )
  }
}

output endpoint string = scheduler.properties.endpoint
output taskHubName string = taskHubName
