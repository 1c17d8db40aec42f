// What the identity may do with the subscription's clusters in Azure Resource Manager: find them, and learn where their API
// servers are and which CA they have. No data action: inside a cluster it may do what infra/kubernetes grants, and no more.
targetScope = 'subscription'

param principalId string
param token string

resource role 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(subscription().id, token, 'fleetmend-cluster-reader')
  properties: {
    roleName: 'fleetmend cluster reader (${token})'
    description: 'Lists AKS clusters and learns server and CA of each. Holds no right inside a cluster that uses Microsoft Entra ID.'
    type: 'CustomRole'
    permissions: [
      {
        actions: [
          'Microsoft.ContainerService/managedClusters/read'
          'Microsoft.ContainerService/managedClusters/listClusterUserCredential/action'
        ]
        notActions: []
        dataActions: []
        notDataActions: []
      }
    ]
    assignableScopes: [
      subscription().id
    ]
  }
}

resource assignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(subscription().id, token, 'fleetmend-cluster-reader-assignment')
  properties: {
    roleDefinitionId: role.id
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}
