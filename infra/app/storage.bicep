// The app's own storage account, without shared keys: the host's locks and timers, the deployment package, the queues and the
// tables. Never share it with another app: two hosts with one id share the timers' lock, and only one of them fires.
param name string
param location string
param tags object
param principalId string

var roles = loadJsonContent('roles.json')
var packageContainer = 'app-package'
// The host needs Owner for blobs (leases on its own containers); Contributor for queues and tables covers creating them.
var hostRoles = [
  roles.storageBlobDataOwner
  roles.storageQueueDataContributor
  roles.storageTableDataContributor
]

resource account 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: 'Standard_LRS'
  }
  properties: {
    allowSharedKeyAccess: false
    allowBlobPublicAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2023-05-01' = {
  parent: account
  name: 'default'
}

resource package 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = {
  parent: blobs
  name: packageContainer
}

resource deadLetter 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = {
  parent: blobs
  name: 'deadletter'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices@2023-05-01' = {
  parent: account
  name: 'default'
}

resource care 'Microsoft.Storage/storageAccounts/queueServices/queues@2023-05-01' = {
  parent: queues
  name: 'care'
}

resource carePoison 'Microsoft.Storage/storageAccounts/queueServices/queues@2023-05-01' = {
  parent: queues
  name: 'care-poison'
}

resource events 'Microsoft.Storage/storageAccounts/queueServices/queues@2023-05-01' = {
  parent: queues
  name: 'events'
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for role in hostRoles: {
  name: guid(account.id, principalId, role)
  scope: account
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}]

output name string = account.name
output packageContainerUrl string = '${account.properties.primaryEndpoints.blob}${packageContainer}'
