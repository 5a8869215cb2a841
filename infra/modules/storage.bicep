// The storage account of the Functions host: deployment package, leases and, with the default back end, the Durable task hub.
// The roles are assigned here, in the module every other one waits for, because they need minutes to take effect.

import { resourceTags, roles } from 'types.bicep'

param name string
param location string
param tags resourceTags
param deploymentContainerName string
param principalId string
param zoneRedundant bool
param publicNetworkAccess ('Enabled' | 'Disabled')
@description('Whether the Durable task hub lives here: it needs queues and tables beside the blobs.')
param hostsTaskHub bool

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: zoneRedundant ? 'Standard_ZRS' : 'Standard_LRS' }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: publicNetworkAccess
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: publicNetworkAccess == 'Enabled' ? 'Allow' : 'Deny'
    }
  }

  resource blobs 'blobServices' = {
    name: 'default'

    // Flex Consumption does not create its deployment container.
    resource deployment 'containers' = {
      name: deploymentContainerName
      properties: { publicAccess: 'None' }
    }
  }
}

var roleIds = hostsTaskHub
  ? [roles.storageBlobDataOwner, roles.storageQueueDataContributor, roles.storageTableDataContributor]
  : [roles.storageBlobDataOwner]

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for roleId in roleIds: {
    scope: account
    name: guid(account.id, principalId, roleId)
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
    }
  }
]

output id string = account.id
output name string = account.name
output blobEndpoint string = account.properties.primaryEndpoints.blob
output queueEndpoint string = account.properties.primaryEndpoints.queue
output tableEndpoint string = account.properties.primaryEndpoints.table
