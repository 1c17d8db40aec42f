// The app on the Flex Consumption plan. Every connection names the identity: without its client id the platform cannot wake
// the app for a queue or a timer.
param planName string
param name string
param location string
param tags object
param identityId string
param clientId string
param storageName string
param packageContainerUrl string
param insightsConnectionString string
param teamsSecretId string
param mode string
param subnetId string
param extraSettings object

var settings = [
  {
    name: 'AzureWebJobsStorage__accountName'
    value: storageName
  }
  {
    name: 'AzureWebJobsStorage__credential'
    value: 'managedidentity'
  }
  {
    name: 'AzureWebJobsStorage__clientId'
    value: clientId
  }
  {
    name: 'APPLICATIONINSIGHTS_CONNECTION_STRING'
    value: insightsConnectionString
  }
  {
    name: 'APPLICATIONINSIGHTS_AUTHENTICATION_STRING'
    value: 'ClientId=${clientId};Authorization=AAD'
  }
  {
    name: 'AZURE_CLIENT_ID'
    value: clientId
  }
  {
    name: 'FLEETMEND_SUBSCRIPTION_ID'
    value: subscription().subscriptionId
  }
  {
    name: 'FLEETMEND_MODE'
    value: mode
  }
  {
    name: 'FLEETMEND_TEAMS_SECRET_ID'
    value: teamsSecretId
  }
  {
    name: 'SCAN_SCHEDULE'
    value: '0 */15 * * * *'
  }
  {
    name: 'PROBE_SCHEDULE'
    value: '0 7/15 * * * *'
  }
]
// Further settings win: so SCAN_SCHEDULE can be changed, too.
var furtherNames = objectKeys(extraSettings)
var further = map(items(extraSettings), setting => {
  name: setting.key
  value: setting.value
})

resource plan 'Microsoft.Web/serverfarms@2024-04-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
  }
}

resource app 'Microsoft.Web/sites@2024-04-01' = {
  name: name
  location: location
  // azd finds what to deploy to by this tag, and the service `app` in azure.yaml.
  tags: union(tags, { 'azd-service-name': 'app' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      scaleAndConcurrency: {
        instanceMemoryMB: 2048
        // The lowest that the plan takes. What may be repaired at once is the budget's to limit, not the number of instances.
        maximumInstanceCount: 40
      }
      runtime: {
        name: 'node'
        version: '22'
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      appSettings: concat(filter(settings, setting => !contains(furtherNames, setting.name)), further)
    }
  }
}

resource noPasswords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = [for door in [
  'ftp'
  'scm'
]: {
  parent: app
  name: door
  properties: {
    allow: false
  }
}]

output id string = app.id
output name string = app.name
output host string = app.properties.defaultHostName
