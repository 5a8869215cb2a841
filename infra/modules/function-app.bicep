// The function app on Flex Consumption. Its settings are the whole list: `config/appsettings` replaces whatever was there.

import { resourceTags } from 'types.bicep'

param name string
param planName string
param location string
param tags resourceTags
@description('azd deploys the service of this name in azure.yaml to the app.')
param serviceName string
param identityId string
param nodeVersion ('22' | '24')
param instanceMemoryMB (512 | 2048 | 4096)
param maximumInstanceCount int
param alwaysReady alwaysReadyGroup[]
param zoneRedundant bool
@description('Empty: no virtual network.')
param subnetId string
@description('URL of the blob container with the deployment package.')
param deploymentContainerUrl string
param settings appSettings
@description('Settings that hold an address of this app itself: name and path.')
param ownAddressSettings appSettings

@description('Entra application that callers of the operator API need a token for; empty: function keys alone guard it.')
param operatorApiClientId string
@description('The group whose members may call the operator API.')
param operatorGroupId string
@description('Paths that need no token of the operator API; a function key guards them if the function asks for one.')
param openPaths string[]

@export()
@description('Instances kept warm for a group (`durable`, `http`) or for one function (`function:<name>`).')
type alwaysReadyGroup = {
  name: string
  @minValue(1)
  instanceCount: int
}

@export()
type appSettings = {
  *: string
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: {
    reserved: true
    zoneRedundant: zoneRedundant
  }
}

resource app 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': serviceName })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: deploymentContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: { name: 'node', version: nodeVersion }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: alwaysReady
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      ftpsState: 'Disabled'
    }
  }

  resource appSettings 'config' = {
    name: 'appsettings'
    properties: union(
      settings,
      toObject(
        items(ownAddressSettings),
        setting => setting.key,
        setting => 'https://${app.properties.defaultHostName}/${setting.value}'
      )
    )
  }

  resource authentication 'config' = if (!empty(operatorApiClientId)) {
    name: 'authsettingsV2'
    properties: {
      platform: { enabled: true }
      globalValidation: {
        requireAuthentication: true
        unauthenticatedClientAction: 'Return401'
        excludedPaths: openPaths
      }
      identityProviders: {
        azureActiveDirectory: {
          enabled: true
          registration: {
            clientId: operatorApiClientId
            openIdIssuer: '${environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0'
          }
          validation: {
            allowedAudiences: [operatorApiClientId, 'api://${operatorApiClientId}']
            defaultAuthorizationPolicy: { allowedPrincipals: { groups: [operatorGroupId] } }
          }
        }
      }
      login: { tokenStore: { enabled: false } }
    }
  }

  resource publishing 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
  }

  resource ftp 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
  }
}

output name string = app.name
output hostName string = app.properties.defaultHostName
