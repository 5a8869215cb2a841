// The queues, applications and containers of topology.json, in the shape the modules need.
// topology.json is the only list of names and properties: the local stack, the emulators' configuration and the tests read the same file.

var topology = loadJsonContent('../topology.json')
var serviceBus = topology.serviceBus

@export()
@description('A queue with every property that Bicep sets on it.')
type queue = {
  name: string
  lockDuration: string
  maxDeliveryCount: int
  defaultMessageTimeToLive: string
  deadLetteringOnMessageExpiration: bool
  requiresDuplicateDetection: bool
  duplicateDetectionHistoryTimeWindow: string
  maxSizeInMegabytes: int
  @description('Left out, not empty, where dead letters stay in the sub-queue: the service refuses an empty name on a second deployment.')
  forwardDeadLetteredMessagesTo: string?
}

@description('What topology.json may say of a queue, the defaults filled in.')
type queueSettings = {
  lockDuration: string
  maxDeliveryCount: int
  defaultMessageTimeToLive: string
  deadLetteringOnMessageExpiration: bool
  requiresDuplicateDetection: bool
  duplicateDetectionHistoryTimeWindow: string
  maxSizeInMegabytes: int
}

@export()
@description('An application that submits orders. Without a principal of its own it gets a new user-assigned identity.')
type application = {
  @minLength(1)
  @maxLength(40)
  name: string
  principalId: string?
  principalType: ('Group' | 'ServicePrincipal' | 'User')?
}

@export()
@description('An agent that runs in its own app under its own identity and serves `<name>-requests` and `<name>-replies`.')
type externalAgent = {
  @minLength(1)
  @maxLength(40)
  name: string
  principalId: string
  principalType: ('Group' | 'ServicePrincipal' | 'User')
}

@export()
var applications = map(topology.applications, item => item.name)

@export()
var workQueueNames = map(serviceBus.queues, item => item.name)

@export()
var deadLetterQueueNames = map(
  filter(serviceBus.queues, item => item.?deadLetterQueue ?? false),
  item => '${item.name}${serviceBus.deadLetterQueue.nameSuffix}'
)

@export()
var statusQueuePrefix = serviceBus.statusQueue.namePrefix

@export()
var orderQueueName = 'orders'

@export()
var deadLetterQueueSuffix = serviceBus.deadLetterQueue.nameSuffix

@export()
var workQueues = map(
  serviceBus.queues,
  item =>
    union(
      brokerProperties(union(serviceBus.queueDefaults, item), item.name),
      (item.?deadLetterQueue ?? false)
        ? { forwardDeadLetteredMessagesTo: '${item.name}${serviceBus.deadLetterQueue.nameSuffix}' }
        : {}
    )
)

@export()
var deadLetterQueues = map(
  filter(serviceBus.queues, item => item.?deadLetterQueue ?? false),
  item =>
    brokerProperties(
      union(serviceBus.queueDefaults, serviceBus.deadLetterQueue),
      '${item.name}${serviceBus.deadLetterQueue.nameSuffix}'
    )
)

@export()
@description('The status queue of one application.')
func statusQueue(application string) queue =>
  brokerProperties(
    union(serviceBus.queueDefaults, serviceBus.statusQueue),
    '${serviceBus.statusQueue.namePrefix}${application}'
  )

func brokerProperties(settings queueSettings, name string) queue => {
  name: name
  lockDuration: settings.lockDuration
  maxDeliveryCount: settings.maxDeliveryCount
  defaultMessageTimeToLive: settings.defaultMessageTimeToLive
  deadLetteringOnMessageExpiration: settings.deadLetteringOnMessageExpiration
  requiresDuplicateDetection: settings.requiresDuplicateDetection
  duplicateDetectionHistoryTimeWindow: settings.duplicateDetectionHistoryTimeWindow
  maxSizeInMegabytes: settings.maxSizeInMegabytes
}

@export()
var databaseName = topology.cosmosDb.database

@export()
var containers = topology.cosmosDb.containers
