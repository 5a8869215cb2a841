// Log Analytics workspace and Application Insights, both without local keys: the app publishes with its identity, the operators read with theirs.

import { resourceTags, roles } from 'types.bicep'

param workspaceName string
param insightsName string
param location string
param tags resourceTags
param principalId string
@description('The operators\' group, which may read telemetry, alerts and metrics; empty: nobody.')
param operatorPrincipalId string
param retentionInDays int
@description('Gigabytes a day after which the workspace stops taking logs: the guard against a runaway bill.')
param dailyQuotaGb int

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionInDays
    workspaceCapping: { dailyQuotaGb: dailyQuotaGb }
    features: { disableLocalAuth: true }
  }
}

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: insightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true
  }
}

resource publisher 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: insights
  name: guid(insights.id, principalId, roles.monitoringMetricsPublisher)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roles.monitoringMetricsPublisher
    )
  }
}

// On the whole group: alerts, metrics and the workbook are resources of their own.
resource reader 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(operatorPrincipalId)) {
  name: guid(resourceGroup().id, operatorPrincipalId, roles.monitoringReader)
  properties: {
    principalId: operatorPrincipalId
    principalType: 'Group'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.monitoringReader)
  }
}

output workspaceId string = workspace.id
output insightsName string = insights.name
#disable-next-line outputs-should-not-contain-secrets // With local auth off the ingestion key in it opens nothing.
output insightsConnectionString string = insights.properties.ConnectionString
