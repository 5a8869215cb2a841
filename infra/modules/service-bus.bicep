// The namespace and every queue of the topology.
//
// Duplicate detection can be set only when a queue is created; changing it in topology.json later needs a new queue name.

import { resourceTags } from 'types.bicep'
import { deadLetterQueues, statusQueue, workQueues } from 'topology.bicep'

param name string
param location string
param tags resourceTags
param sku ('Standard' | 'Premium')
@description('Messaging units; Premium only.')
param capacity int
param publicNetworkAccess ('Enabled' | 'Disabled')
param applicationNames string[]
param workspaceId string

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: union({ name: sku, tier: sku }, sku == 'Premium' ? { capacity: capacity } : {})
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: publicNetworkAccess
  }
}

// Before the queues that forward to them.
resource deadLetters 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [
  for queue in deadLetterQueues: {
    parent: namespace
    name: queue.name
    properties: {
      lockDuration: queue.lockDuration
      maxDeliveryCount: queue.maxDeliveryCount
      defaultMessageTimeToLive: queue.defaultMessageTimeToLive
      deadLetteringOnMessageExpiration: queue.deadLetteringOnMessageExpiration
      requiresDuplicateDetection: queue.requiresDuplicateDetection
      duplicateDetectionHistoryTimeWindow: queue.duplicateDetectionHistoryTimeWindow
      maxSizeInMegabytes: queue.maxSizeInMegabytes
      requiresSession: false
    }
  }
]

resource work 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [
  for queue in workQueues: {
    parent: namespace
    name: queue.name
    properties: {
      lockDuration: queue.lockDuration
      maxDeliveryCount: queue.maxDeliveryCount
      defaultMessageTimeToLive: queue.defaultMessageTimeToLive
      deadLetteringOnMessageExpiration: queue.deadLetteringOnMessageExpiration
      requiresDuplicateDetection: queue.requiresDuplicateDetection
      duplicateDetectionHistoryTimeWindow: queue.duplicateDetectionHistoryTimeWindow
      maxSizeInMegabytes: queue.maxSizeInMegabytes
      requiresSession: false
      ...(contains(queue, 'forwardDeadLetteredMessagesTo')
        ? { forwardDeadLetteredMessagesTo: queue.forwardDeadLetteredMessagesTo }
        : {})
    }
    dependsOn: [deadLetters]
  }
]

resource status 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [
  for application in applicationNames: {
    parent: namespace
    name: statusQueue(application).name
    properties: {
      lockDuration: statusQueue(application).lockDuration
      maxDeliveryCount: statusQueue(application).maxDeliveryCount
      defaultMessageTimeToLive: statusQueue(application).defaultMessageTimeToLive
      deadLetteringOnMessageExpiration: statusQueue(application).deadLetteringOnMessageExpiration
      requiresDuplicateDetection: statusQueue(application).requiresDuplicateDetection
      duplicateDetectionHistoryTimeWindow: statusQueue(application).duplicateDetectionHistoryTimeWindow
      maxSizeInMegabytes: statusQueue(application).maxSizeInMegabytes
      requiresSession: false
    }
  }
]

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: namespace
  name: 'to-workspace'
  properties: {
    workspaceId: workspaceId
    logAnalyticsDestinationType: 'Dedicated'
    logs: [{ categoryGroup: 'allLogs', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

output id string = namespace.id
output name string = namespace.name
output fullyQualifiedNamespace string = split(split(namespace.properties.serviceBusEndpoint, '://')[1], ':')[0]
