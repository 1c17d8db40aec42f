// The columns of the workspace's tables that the queries may use, with Kusto's types, from
// https://learn.microsoft.com/azure/azure-monitor/reference/tables/appevents, …/appmetrics and …/appavailabilityresults.
// `Success` of AppAvailabilityResults is left out on purpose: the property `state` says more, and is ours.
export const workspaceTables = {
  AppEvents: { TimeGenerated: "datetime", Name: "string", Properties: "dynamic" },
  AppMetrics: { TimeGenerated: "datetime", Name: "string", Min: "real", Max: "real", Properties: "dynamic" },
  AppAvailabilityResults: {
    TimeGenerated: "datetime",
    Name: "string",
    Message: "string",
    DurationMs: "real",
    Properties: "dynamic",
  },
} as const;
