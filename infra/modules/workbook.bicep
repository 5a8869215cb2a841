// The workbook an operator opens first: orders, steps, recovery, backlog and dead letters, all from the app's own events.

import { resourceTags } from 'types.bicep'

param location string
param tags resourceTags
param workspaceId string

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, 'orders-workbook')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Orders: scheduler, agents, supervisor'
    category: 'workbook'
    sourceId: workspaceId
    serializedData: loadTextContent('../workbook.json')
  }
}
