// Types and role ids that several modules share.

@export()
@description('azd finds its resources by these tags.')
type resourceTags = {
  *: string
}

@export()
type principalType = 'Group' | 'ServicePrincipal' | 'User'

@export()
@description('Built-in Azure roles by the name the portal shows. A test compares the ids with a second table.')
var roles = {
  storageBlobDataOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  storageQueueDataContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  storageTableDataContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
  serviceBusDataReceiver: '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
  serviceBusDataSender: '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
  serviceBusDataOwner: '090c5cfd-751d-490a-894a-3ce6f1109419'
  monitoringMetricsPublisher: '3913510d-42f4-4e42-8a64-420c390055eb'
  monitoringReader: '43d0d8ad-25c7-4714-9337-8ba259a9fe05'
  durableTaskDataContributor: '0ad04412-c4d5-4796-b79c-f76d14c8d402'
}
