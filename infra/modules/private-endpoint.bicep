// One private endpoint and its entry in the private DNS zone.

import { resourceTags } from 'types.bicep'

param name string
param location string
param tags resourceTags
param subnetId string
param targetId string
@description('The part of the service to reach: namespace, Sql, blob, queue or table.')
param groupId string
param zoneId string

resource endpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
    privateLinkServiceConnections: [
      {
        name: name
        properties: { privateLinkServiceId: targetId, groupIds: [groupId] }
      }
    ]
  }

  resource registration 'privateDnsZoneGroups' = {
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [{ name: groupId, properties: { privateDnsZoneId: zoneId } }]
    }
  }
}
