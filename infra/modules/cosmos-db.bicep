// Account, database and containers. The containers come from topology.json with their indexes: with Entra tokens the app cannot create any.
//
// One write region, always: conditional writes are the base of every claim, and with several write regions they are checked only locally.

import { resourceTags } from 'types.bicep'
import { containers, databaseName } from 'topology.bicep'

param name string
param location string
param tags resourceTags
param capacityMode ('Serverless' | 'Autoscale')
@description('Upper limit in RU/s of each container; Autoscale only.')
param maxThroughput int
@description('A second region that can be read and failed over to; empty: none. Autoscale only.')
param failoverLocation string
param zoneRedundant bool
param backupTier ('Continuous7Days' | 'Continuous30Days')
param publicNetworkAccess ('Enabled' | 'Disabled')
@description('Also make the containers that only the demo remote services use.')
param withDemoContainers bool
param workspaceId string

// The app's instances share no session, so Session would let one miss what another has written. In one region Strong costs
// twice the request units of a read and no time; over two regions it would make each write wait for the other region, so
// BoundedStaleness is used: in the write region it shows every acknowledged write too. These are its least limits there.
var consistencyPolicy = empty(failoverLocation)
  ? { defaultConsistencyLevel: 'Strong' }
  : { defaultConsistencyLevel: 'BoundedStaleness', maxStalenessPrefix: 100000, maxIntervalInSeconds: 300 }

var deployedContainers = filter(containers, item => withDemoContainers || !(item.?demo ?? false))

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-04-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    capabilities: capacityMode == 'Serverless' ? [{ name: 'EnableServerless' }] : []
    consistencyPolicy: consistencyPolicy
    locations: concat(
      [{ locationName: location, failoverPriority: 0, isZoneRedundant: zoneRedundant }],
      empty(failoverLocation)
        ? []
        : [{ locationName: failoverLocation, failoverPriority: 1, isZoneRedundant: zoneRedundant }]
    )
    enableMultipleWriteLocations: false
    enableAutomaticFailover: !empty(failoverLocation)
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: { tier: backupTier }
    }
    disableLocalAuth: true
    disableKeyBasedMetadataWriteAccess: true
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: publicNetworkAccess
  }

  resource database 'sqlDatabases' = {
    name: databaseName
    properties: {
      resource: { id: databaseName }
    }
  }
}

resource items 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-04-15' = [
  for container in deployedContainers: {
    parent: account::database
    name: container.name
    properties: {
      options: capacityMode == 'Autoscale' ? { autoscaleSettings: { maxThroughput: maxThroughput } } : {}
      resource: {
        id: container.name
        partitionKey: { paths: [container.partitionKey], kind: 'Hash', version: 2 }
        indexingPolicy: container.indexingPolicy
        ...(contains(container, 'defaultTtl') ? { defaultTtl: container.?defaultTtl } : {})
      }
    }
  }
]

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: account
  name: 'to-workspace'
  properties: {
    workspaceId: workspaceId
    logAnalyticsDestinationType: 'Dedicated'
    logs: [
      { category: 'ControlPlaneRequests', enabled: true }
      { category: 'PartitionKeyRUConsumption', enabled: true }
      { category: 'QueryRuntimeStatistics', enabled: true }
    ]
  }
}

output id string = account.id
output name string = account.name
output endpoint string = account.properties.documentEndpoint
