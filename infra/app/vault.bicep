// The vault holds one secret: the URL of the Teams workflow. It is written by a person (docs/deploy.md), never by a template,
// so that it is in no deployment's history.
param name string
param location string
param tags object
param principalId string
param deployerId string

var roles = loadJsonContent('roles.json')

resource vault 'Microsoft.KeyVault/vaults@2023-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: subscription().tenantId
    sku: {
      family: 'A'
      name: 'standard'
    }
    enableRbacAuthorization: true
    enableSoftDelete: true
    softDeleteRetentionInDays: 7
  }
}

resource reader 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, principalId, roles.keyVaultSecretsUser)
  scope: vault
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.keyVaultSecretsUser)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

resource writer 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(deployerId)) {
  name: guid(vault.id, deployerId, roles.keyVaultSecretsOfficer)
  scope: vault
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.keyVaultSecretsOfficer)
    principalId: deployerId
  }
}

output name string = vault.name
output teamsSecretId string = '${vault.properties.vaultUri}secrets/teams-workflow-url'
