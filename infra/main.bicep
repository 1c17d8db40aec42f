// fleetmend for one Azure subscription: a resource group with the Functions app and what it needs, and one custom role that
// lets its identity find the subscription's clusters. What it may do inside a cluster is granted there: infra/kubernetes.
targetScope = 'subscription'

@minLength(1)
@maxLength(40)
@description('Names the resource group and the resources. azd: the environment.')
param environmentName string

@minLength(1)
@description('The region of everything but the clusters, which may be anywhere.')
param location string

@allowed([
  'observe'
  'repair'
  'off'
])
@description('What fleetmend may do: look and plan (observe), also repair (repair), or nothing (off). Has no default on purpose.')
param mode string

@minLength(3)
@description('Who gets every alert by email. Needed: the app cannot report its own death.')
param alertEmail string

@description('Whether alerts also go to Teams by the function forwardAlert. False for the first deployment: the function has to be there.')
param alertsToTeams bool = false

@description('Whether Event Grid calls the function clusterChanged. Otherwise its events go to the queue `events`, which needs no function at deployment and no public access.')
param eventsByPush bool = false

@description('A subnet delegated to Microsoft.App/environments, for private clusters and a fixed address. Empty: no virtual network.')
param subnetId string = ''

@description('Where docs/alerts.md can be read. Cards link to it. Empty: no link.')
param runbookUrl string = ''

@description('Object id of who deploys: may write the vault\'s secrets. Empty: nobody may by this deployment.')
param deployerId string = ''

@description('Further settings of fleetmend, such as { FLEETMEND_MAX_REPAIRS_PER_HOUR: \'5\' }.')
param extraSettings object = {}

var abbreviations = loadJsonContent('abbreviations.json')
var token = toLower(uniqueString(subscription().id, environmentName, location))
var tags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2021-04-01' = {
  name: '${abbreviations.resourceGroup}${environmentName}'
  location: location
  tags: tags
}

module identity 'app/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: '${abbreviations.identity}fleetmend-${token}'
    location: location
    tags: tags
  }
}

module clusterRights 'app/cluster-rights.bicep' = {
  name: 'fleetmend-cluster-rights-${token}'
  params: {
    principalId: identity.outputs.principalId
    token: token
  }
}

module observability 'app/observability.bicep' = {
  name: 'observability'
  scope: group
  params: {
    workspaceName: '${abbreviations.workspace}${token}'
    insightsName: '${abbreviations.insights}${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
  }
}

module storage 'app/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: '${abbreviations.storage}${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
  }
}

module vault 'app/vault.bicep' = {
  name: 'vault'
  scope: group
  params: {
    name: '${abbreviations.vault}${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    deployerId: deployerId
  }
}

module functionApp 'app/function-app.bicep' = {
  name: 'function-app'
  scope: group
  params: {
    planName: '${abbreviations.plan}${token}'
    name: '${abbreviations.functionApp}fleetmend-${token}'
    location: location
    tags: tags
    identityId: identity.outputs.id
    clientId: identity.outputs.clientId
    storageName: storage.outputs.name
    packageContainerUrl: storage.outputs.packageContainerUrl
    insightsConnectionString: observability.outputs.connectionString
    teamsSecretId: vault.outputs.teamsSecretId
    mode: mode
    subnetId: subnetId
    extraSettings: extraSettings
  }
}

module events 'app/events.bicep' = {
  name: 'events'
  scope: group
  params: {
    topicName: '${abbreviations.systemTopic}${token}'
    subscriptionName: '${abbreviations.eventSubscription}aks-changes'
    tags: tags
    storageName: storage.outputs.name
    functionAppId: functionApp.outputs.id
    byPush: eventsByPush
  }
}

module alerts 'alerts/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    actionGroupPrefix: '${abbreviations.actionGroup}fleetmend-'
    rulePrefix: abbreviations.alertRule
    location: location
    tags: tags
    workspaceId: observability.outputs.workspaceId
    functionAppId: functionApp.outputs.id
    functionAppHost: functionApp.outputs.host
    email: alertEmail
    toTeams: alertsToTeams
    runbookUrl: runbookUrl
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_FUNCTION_APP string = functionApp.outputs.name
output FLEETMEND_URL string = 'https://${functionApp.outputs.host}'
output FLEETMEND_VAULT string = vault.outputs.name
@description('Clusters know the identity by this: npm run manifests -- --user <object id>.')
output FLEETMEND_IDENTITY_OBJECT_ID string = identity.outputs.principalId
