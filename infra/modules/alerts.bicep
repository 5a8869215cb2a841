// The action group and every alert of alerts.json.
//
// A1  No alert flaps: one that reports an event stays until somebody closes it and is repeated at most once an hour;
//     one that reports a level fires and resolves only after several evaluations in a row agree.
// A2  No text, dimension or column of an alert names an order.

import { resourceTags } from 'types.bicep'
import { deadLetterQueueNames, orderQueueName, statusQueuePrefix } from 'topology.bicep'

param location string
param tags resourceTags
param actionGroupName string
param emails string[]
param workspaceId string
param namespaceId string
param cosmosAccountId string
param applicationNames string[]

var alerts = loadJsonContent('../alerts.json')
// A signal is one trace whose message is one JSON object; `kind` is its first property and `signal` the value of it.
func signalQuery(kind string, signal string, condition string, measure string) string =>
  'AppTraces | where Message startswith \'{"${kind}":"${signal}"\' | extend data = parse_json(Message)${condition} | summarize measure = ${measure}'

// A1: an event has no end that could resolve its alert, so it never resolves by itself.
var eventAlerts = map(alerts.events, alert => {
  name: alert.name
  text: alert.text
  severity: alert.severity
  query: signalQuery(
    alert.kind,
    alert.signal,
    contains(alert, 'field') ? ' | where tostring(data.${alert.?field}) == "${alert.?equals}"' : '',
    'count()'
  )
  aggregation: 'Total'
  operator: 'GreaterThan'
  threshold: 0
  window: 'PT5M'
  periods: 1
  resolution: { autoMitigate: false, muteActionsDuration: 'PT1H' }
})

// summarize without a grouping yields one row also when nothing was logged at all, so silence is a count of 0.
var silenceAlerts = map(alerts.silences, alert => {
  name: alert.name
  text: alert.text
  severity: alert.severity
  query: signalQuery(alert.kind, alert.signal, '', 'count()')
  aggregation: 'Total'
  operator: 'LessThan'
  threshold: 1
  window: alert.window
  periods: 2
  resolution: { autoMitigate: true }
})

var gaugeAlerts = map(alerts.gauges, alert => {
  name: alert.name
  text: alert.text
  severity: alert.severity
  query: signalQuery(alert.kind, alert.signal, '', alert.measure)
  aggregation: 'Maximum'
  operator: 'GreaterThan'
  threshold: alert.threshold
  window: 'PT5M'
  periods: 3
  resolution: { autoMitigate: true }
})

var statusQueueNames = map(applicationNames, application => '${statusQueuePrefix}${application}')
var metricTargets = {
  serviceBus: { id: namespaceId, type: 'Microsoft.ServiceBus/namespaces' }
  cosmosDb: { id: cosmosAccountId, type: 'Microsoft.DocumentDB/databaseAccounts' }
}
var metricDimensions = {
  none: []
  // Queues forward their dead letters, so what waits in a `…-dead-letter` queue counts as active there.
  deadLetterQueues: [{ name: 'EntityName', operator: 'Include', values: deadLetterQueueNames }]
  // These two kinds forward nothing: their dead letters stay in the sub-queue.
  endQueues: [{ name: 'EntityName', operator: 'Include', values: concat(deadLetterQueueNames, statusQueueNames) }]
  orderQueue: [{ name: 'EntityName', operator: 'Include', values: [orderQueueName] }]
  tooManyRequests: [{ name: 'StatusCode', operator: 'Include', values: ['429'] }]
}

resource group 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: 'orders'
    emailReceivers: [
      for (email, index) in emails: {
        name: 'operator-${index}'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

resource logAlerts 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for alert in concat(eventAlerts, silenceAlerts, gaugeAlerts): {
    name: alert.name
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: alert.name
      description: alert.text
      severity: alert.severity
      enabled: true
      scopes: [workspaceId]
      evaluationFrequency: 'PT5M'
      windowSize: alert.window
      criteria: {
        allOf: [
          {
            query: alert.query
            metricMeasureColumn: 'measure'
            timeAggregation: alert.aggregation
            operator: alert.operator
            threshold: alert.threshold
            failingPeriods: { numberOfEvaluationPeriods: alert.periods, minFailingPeriodsToAlert: alert.periods }
          }
        ]
      }
      // The table does not exist before the first trace has arrived.
      skipQueryValidation: true
      actions: { actionGroups: [group.id] }
      ...alert.resolution
    }
  }
]

resource metricAlerts 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for alert in alerts.metrics: {
    name: alert.name
    location: 'global'
    tags: tags
    properties: {
      description: alert.text
      severity: alert.severity
      enabled: true
      scopes: [metricTargets[alert.target].id]
      evaluationFrequency: 'PT5M'
      windowSize: 'PT15M'
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            criterionType: 'StaticThresholdCriterion'
            name: alert.name
            metricNamespace: metricTargets[alert.target].type
            metricName: alert.metric
            dimensions: metricDimensions[alert.only]
            timeAggregation: alert.aggregation
            operator: 'GreaterThan'
            threshold: alert.threshold
          }
        ]
      }
      autoMitigate: true
      actions: [{ actionGroupId: group.id }]
    }
  }
]
