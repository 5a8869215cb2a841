// Data-plane rights of the app: one role a container, holding only the item operations that topology.json lists for it.
// Ordinary Azure roles give no access to items, and no role here can create or delete a database or a container.

import { containers, databaseName } from 'topology.bicep'

param accountName string
param principalId string
@description('The operators\' group, which may read every item; empty: nobody.')
param operatorPrincipalId string
param withDemoContainers bool

var prefix = 'Microsoft.DocumentDB/databaseAccounts'
var items = '${prefix}/sqlDatabases/containers/items'
var containerActions = {
  create: ['${items}/create']
  read: ['${items}/read']
  replace: ['${items}/replace']
  upsert: ['${items}/upsert']
  delete: ['${items}/delete']
  // The SDK's queries need both.
  query: ['${prefix}/sqlDatabases/containers/executeQuery', '${prefix}/sqlDatabases/containers/readChangeFeed']
}
var grantedContainers = filter(containers, item => withDemoContainers || !(item.?demo ?? false))
var builtInDataReader = '00000000-0000-0000-0000-000000000001'

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-04-15' existing = {
  name: accountName
}

@batchSize(1)
resource containerRoles 'Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions@2025-04-15' = [
  for container in grantedContainers: {
    parent: account
    name: guid(account.id, 'app', container.name)
    properties: {
      roleName: 'Function app on ${container.name}'
      type: 'CustomRole'
      assignableScopes: [account.id]
      permissions: [
        {
          dataActions: concat(
            ['${prefix}/readMetadata'],
            flatten(map(container.access, action => containerActions[action]))
          )
        }
      ]
    }
  }
]

// The SDK reads the account's regions before anything else; that is metadata of the account, not of a container.
resource metadataRole 'Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions@2025-04-15' = {
  parent: account
  name: guid(account.id, 'app', 'metadata')
  properties: {
    roleName: 'Function app on account metadata'
    type: 'CustomRole'
    assignableScopes: [account.id]
    permissions: [{ dataActions: ['${prefix}/readMetadata'] }]
  }
  dependsOn: [containerRoles]
}

@batchSize(1)
resource containerAssignments 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2025-04-15' = [
  for (container, index) in grantedContainers: {
    parent: account
    name: guid(account.id, principalId, container.name)
    properties: {
      principalId: principalId
      roleDefinitionId: containerRoles[index].id
      scope: '${account.id}/dbs/${databaseName}/colls/${container.name}'
    }
  }
]

resource metadataAssignment 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2025-04-15' = {
  parent: account
  name: guid(account.id, principalId, 'metadata')
  properties: {
    principalId: principalId
    roleDefinitionId: metadataRole.id
    scope: account.id
  }
  dependsOn: [containerAssignments]
}

resource operatorAssignment 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2025-04-15' = if (!empty(operatorPrincipalId)) {
  parent: account
  name: guid(account.id, operatorPrincipalId, builtInDataReader)
  properties: {
    principalId: operatorPrincipalId
    roleDefinitionId: '${account.id}/sqlRoleDefinitions/${builtInDataReader}'
    scope: '${account.id}/dbs/${databaseName}'
  }
  dependsOn: [metadataAssignment]
}
