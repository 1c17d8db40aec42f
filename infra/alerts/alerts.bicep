// The alert rules of rules.json, each over the query of its name, and who hears of them: email for every rule, and Teams by the
// app's own function. Email is never optional: an app that is down, or a card that Teams refuses, can tell nobody by itself.
param actionGroupPrefix string
param rulePrefix string
param location string
param tags object
param workspaceId string
param functionAppId string
param functionAppHost string
param email string
param toTeams bool
param runbookUrl string

var rules = loadJsonContent('rules.json').rules
// Bicep reads files when it compiles, so each path has to be written out.
var queries = {
  'admission-broken': loadTextContent('admission-broken.kql')
  'repair-failed': loadTextContent('repair-failed.kql')
  'breaker-open': loadTextContent('breaker-open.kql')
  'certificate-due': loadTextContent('certificate-due.kql')
  'cluster-not-assessed': loadTextContent('cluster-not-assessed.kql')
  'nothing-reported': loadTextContent('nothing-reported.kql')
  'card-failed': loadTextContent('card-failed.kql')
}

resource byEmail 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: '${actionGroupPrefix}email'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'fleetmend'
    enabled: true
    emailReceivers: [
      {
        name: 'on-call'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

resource byTeams 'Microsoft.Insights/actionGroups@2023-01-01' = if (toTeams) {
  name: '${actionGroupPrefix}teams'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'fmend-teams'
    enabled: true
    azureFunctionReceivers: [
      {
        name: 'forwardAlert'
        functionAppResourceId: functionAppId
        functionName: 'forwardAlert'
        // The key exists once the host has run, so this needs the app's code to be deployed: hence `toTeams`.
        httpTriggerUrl: 'https://${functionAppHost}/api/alerts?code=${listKeys('${functionAppId}/host/default', '2024-04-01').functionKeys.default}'
        useCommonAlertSchema: true
      }
    ]
  }
}

resource alertRules 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [for rule in rules: {
  name: '${rulePrefix}${rule.name}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'fleetmend: ${rule.title}'
    description: rule.todo
    severity: rule.severity
    enabled: true
    scopes: [
      workspaceId
    ]
    evaluationFrequency: rule.frequency
    windowSize: rule.window
    criteria: {
      allOf: [
        {
          query: queries[rule.name]
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 0
          dimensions: map(rule.dimensions, name => {
            name: name
            operator: 'Include'
            values: [
              '*'
            ]
          })
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    // Fires once, and says when it is over.
    autoMitigate: true
    actions: {
      actionGroups: toTeams && contains(rule.receivers, 'forwardAlert') ? [
        byEmail.id
        byTeams.id
      ] : [
        byEmail.id
      ]
      customProperties: {
        title: rule.title
        todo: rule.todo
        resolved: rule.resolved
        runbook: empty(runbookUrl) ? '' : '${runbookUrl}#${rule.name}'
      }
    }
  }
}]
