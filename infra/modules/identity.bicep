// One user-assigned identity.

import { resourceTags } from 'types.bicep'

param name string
param location string
param tags resourceTags

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

output id string = identity.id
output principalId string = identity.properties.principalId
output clientId string = identity.properties.clientId
