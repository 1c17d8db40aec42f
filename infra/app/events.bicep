// What happens to the subscription's clusters reaches the app within minutes; the timer finds it anyway. There can be one system
// topic for a subscription: where it is there already, take this module out or point it at that topic (docs/deploy.md).
param topicName string
param subscriptionName string
param tags object
param storageName string
param functionAppId string
param byPush bool

var roles = loadJsonContent('roles.json')
// What fleetmend itself does with a cluster (listClusterUserCredential) is not among these: no feedback loop.
var operations = [
  'Microsoft.ContainerService/managedClusters/write'
  'Microsoft.ContainerService/managedClusters/agentPools/write'
  'Microsoft.ContainerService/managedClusters/delete'
  'Microsoft.ContainerService/managedClusters/start/action'
  'Microsoft.ContainerService/managedClusters/stop/action'
  'Microsoft.ContainerService/managedClusters/rotateClusterCertificates/action'
  'Microsoft.ContainerService/managedClusters/rotateServiceAccountSigningKeys/action'
]

resource storage 'Microsoft.Storage/storageAccounts@2023-05-01' existing = {
  name: storageName
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2023-05-01' existing = {
  parent: storage
  name: 'default'
}

resource deadLetter 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' existing = {
  parent: blobs
  name: 'deadletter'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices@2023-05-01' existing = {
  parent: storage
  name: 'default'
}

resource queue 'Microsoft.Storage/storageAccounts/queueServices/queues@2023-05-01' existing = {
  parent: queues
  name: 'events'
}

resource topic 'Microsoft.EventGrid/systemTopics@2022-06-15' = {
  name: topicName
  location: 'global'
  tags: tags
  identity: {
    type: 'SystemAssigned'
  }
  properties: {
    source: subscription().id
    topicType: 'Microsoft.Resources.Subscriptions'
  }
}

resource sender 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(queue.id, topicName, roles.storageQueueDataMessageSender)
  scope: queue
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.storageQueueDataMessageSender)
    principalId: topic.identity.principalId
    principalType: 'ServicePrincipal'
  }
}

resource undertaker 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(deadLetter.id, topicName, roles.storageBlobDataContributor)
  scope: deadLetter
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.storageBlobDataContributor)
    principalId: topic.identity.principalId
    principalType: 'ServicePrincipal'
  }
}

var eventFilter = {
  includedEventTypes: [
    'Microsoft.Resources.ResourceWriteSuccess'
    'Microsoft.Resources.ResourceDeleteSuccess'
    'Microsoft.Resources.ResourceActionSuccess'
  ]
  advancedFilters: [
    {
      operatorType: 'StringIn'
      key: 'data.operationName'
      values: operations
    }
  ]
}
var retryPolicy = {
  maxDeliveryAttempts: 30
  eventTimeToLiveInMinutes: 1440
}
var deadLetterTo = {
  identity: {
    type: 'SystemAssigned'
  }
  deadLetterDestination: {
    endpointType: 'StorageBlob'
    properties: {
      resourceId: storage.id
      blobContainerName: 'deadletter'
    }
  }
}

resource toQueue 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2022-06-15' = if (!byPush) {
  parent: topic
  name: subscriptionName
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    deliveryWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      destination: {
        endpointType: 'StorageQueue'
        properties: {
          resourceId: storage.id
          queueName: 'events'
          queueMessageTimeToLiveInSeconds: 86400
        }
      }
    }
    filter: eventFilter
    retryPolicy: retryPolicy
    deadLetterWithResourceIdentity: deadLetterTo
  }
  dependsOn: [
    sender
    undertaker
  ]
}

resource toFunction 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2022-06-15' = if (byPush) {
  parent: topic
  name: '${subscriptionName}-push'
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    destination: {
      endpointType: 'AzureFunction'
      properties: {
        resourceId: '${functionAppId}/functions/clusterChanged'
        maxEventsPerBatch: 1
        preferredBatchSizeInKilobytes: 64
      }
    }
    filter: eventFilter
    retryPolicy: retryPolicy
    deadLetterWithResourceIdentity: deadLetterTo
  }
  dependsOn: [
    undertaker
  ]
}
