// What one principal may do with which queues, and nothing beyond: every assignment is scoped to a queue.

import { principalType, roles } from 'types.bicep'

param namespaceName string
param principalId string
param principalKind principalType
param receiveFrom string[]
param sendTo string[]

var grants = concat(
  map(receiveFrom, queue => { queue: queue, role: roles.serviceBusDataReceiver }),
  map(sendTo, queue => { queue: queue, role: roles.serviceBusDataSender })
)

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource queues 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' existing = [
  for grant in grants: {
    parent: namespace
    name: grant.queue
  }
]

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (grant, index) in grants: {
    scope: queues[index]
    name: guid(queues[index].id, principalId, grant.role)
    properties: {
      principalId: principalId
      principalType: principalKind
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', grant.role)
    }
  }
]
