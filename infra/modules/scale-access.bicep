// The scale controller reads message counts with the administration API. Receive rights do not allow that, and without it scaling
// silently falls back to peeking, which wakes instances late. One custom role with read on the namespace closes the gap;
// the alternative, Azure Service Bus Data Owner, could also read and send every message.

import { roles } from 'types.bicep'

param namespaceName string
param principalId string
param role ('custom' | 'dataOwner')

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource countsReader 'Microsoft.Authorization/roleDefinitions@2022-04-01' = if (role == 'custom') {
  name: guid(resourceGroup().id, 'service-bus-counts-reader')
  properties: {
    roleName: 'Service Bus counts reader (${namespaceName})'
    description: 'Reads the description and message counts of a namespace and its queues; no messages.'
    type: 'CustomRole'
    permissions: [{ actions: ['Microsoft.ServiceBus/namespaces/*/read'] }]
    assignableScopes: [resourceGroup().id]
  }
}

resource customAssignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (role == 'custom') {
  scope: namespace
  name: guid(namespace.id, principalId, 'service-bus-counts-reader')
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: countsReader.id
  }
}

resource ownerAssignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (role == 'dataOwner') {
  scope: namespace
  name: guid(namespace.id, principalId, roles.serviceBusDataOwner)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.serviceBusDataOwner)
  }
}
