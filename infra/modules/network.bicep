// The virtual network: one subnet the app sends from, one for the private endpoints, and a private endpoint and DNS zone for each
// service. Application Insights and Durable Task Scheduler stay public; Entra roles guard them (docs/networking.md).

import { resourceTags } from 'types.bicep'

param name string
param location string
param tags resourceTags
param storageName string
param namespaceName string
param cosmosAccountName string

var storageId = resourceId('Microsoft.Storage/storageAccounts', storageName)
var targets = [
  { name: 'blob', id: storageId, zone: 'privatelink.blob.${environment().suffixes.storage}' }
  { name: 'queue', id: storageId, zone: 'privatelink.queue.${environment().suffixes.storage}' }
  { name: 'table', id: storageId, zone: 'privatelink.table.${environment().suffixes.storage}' }
  {
    name: 'namespace'
    id: resourceId('Microsoft.ServiceBus/namespaces', namespaceName)
    zone: 'privatelink.servicebus.windows.net'
  }
  {
    name: 'Sql'
    id: resourceId('Microsoft.DocumentDB/databaseAccounts', cosmosAccountName)
    zone: 'privatelink.documents.azure.com'
  }
]

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: ['10.20.0.0/16'] }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: '10.20.0.0/24'
          defaultOutboundAccess: true
          delegations: [{ name: 'flex-consumption', properties: { serviceName: 'Microsoft.App/environments' } }]
        }
      }
      {
        name: 'private-endpoints'
        properties: {
          addressPrefix: '10.20.1.0/24'
          defaultOutboundAccess: false
          privateEndpointNetworkPolicies: 'Enabled'
        }
      }
    ]
  }

  resource app 'subnets' existing = {
    name: 'app'
  }

  resource endpoints 'subnets' existing = {
    name: 'private-endpoints'
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for target in targets: {
    name: target.zone
    location: 'global'
    tags: tags
  }
]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (target, index) in targets: {
    parent: zones[index]
    name: 'to-${name}'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: { id: network.id }
    }
  }
]

module endpoints 'private-endpoint.bicep' = [
  for (target, index) in targets: {
    params: {
      name: 'pe-${toLower(target.name)}-${name}'
      location: location
      tags: tags
      subnetId: network::endpoints.id
      targetId: target.id
      groupId: target.name
      zoneId: zones[index].id
    }
  }
]

output appSubnetId string = network::app.id
