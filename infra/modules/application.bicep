// An application: Send on `orders`, Receive on its own status queue, nothing else.

import { principalType, resourceTags } from 'types.bicep'
import { orderQueueName, statusQueuePrefix } from 'topology.bicep'

param name string
@description('Empty: a new user-assigned identity is made for the application.')
param principalId string
param principalKind principalType
param identityName string
param location string
param tags resourceTags
param namespaceName string

module identity 'identity.bicep' = if (empty(principalId)) {
  params: { name: identityName, location: location, tags: tags }
}

module access 'queue-access.bicep' = {
  params: {
    namespaceName: namespaceName
    principalId: empty(principalId) ? identity!.outputs.principalId : principalId
    principalKind: empty(principalId) ? 'ServicePrincipal' : principalKind
    receiveFrom: ['${statusQueuePrefix}${name}']
    sendTo: [orderQueueName]
  }
}
