// Alerts as Azure Monitor sends them, after the log alert (v2) sample of
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-payload-samples

/** What a rule says, as far as the payload shows it. */
export interface Given {
  readonly rule?: string;
  readonly severity?: string;
  readonly condition?: "Fired" | "Resolved";
  readonly description?: string;
  readonly properties?: Readonly<Record<string, string>> | null;
  readonly rows?: readonly Readonly<Record<string, string>>[];
  readonly link?: string;
  /** RFC 3339. */
  readonly firedAt?: string;
}

export const portalLink =
  "https://portal.azure.com#@00000000-0000-0000-0000-0000000000aa/blade/Microsoft_Azure_Monitoring_Logs/LogsBlade/source/Alerts.EmailLinks";

export const admissionBroken: Given = {
  rule: "fleetmend-admission-broken",
  severity: "Sev1",
  properties: {
    title: "Pod admission is broken",
    todo: "Read the report, then repair by hand if fleetmend may not: npm run --silent fleetmend -- repair",
    resolved: "The last run found the cluster's admission working, or the cluster is gone.",
  },
  rows: [
    {
      cluster: "rg-training/aks-train-03",
      hook: "ValidatingWebhookConfiguration kai-binder, binder.run.ai",
      cause: "bundle-stale",
      since: "2026-12-01T02:45:00Z",
      did: "made a plan; the mode allows no more",
    },
  ],
};

/** The body of the action group's request. */
export function commonAlert(given: Given): unknown {
  const { rule = "rule", severity = "Sev2", condition = "Fired", rows = [{}], link = portalLink } = given;
  const { firedAt = "2026-12-01T02:58:24.3713213Z" } = given;
  return {
    schemaId: "azureMonitorCommonAlertSchema",
    data: {
      essentials: {
        alertId:
          "/subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.AlertsManagement/alerts/b9569717-bc32-442f-add5-83a997729330",
        alertRule: rule,
        severity,
        signalType: "Log",
        monitorCondition: condition,
        monitoringService: "Log Alerts V2",
        alertTargetIDs: ["/subscriptions/s/resourcegroups/rg/providers/microsoft.operationalinsights/workspaces/log"],
        configurationItems: ["log"],
        originAlertId: "c4a71f42",
        firedDateTime: firedAt,
        resolvedDateTime: condition === "Resolved" ? "2026-12-01T03:23:10.1Z" : null,
        description: given.description ?? "",
        essentialsVersion: "1.0",
        alertContextVersion: "1.0",
      },
      alertContext: {
        properties: given.properties === undefined ? {} : given.properties,
        conditionType: "LogQueryCriteria",
        condition: {
          windowSize: "PT1H",
          allOf: rows.map((row) => ({
            searchQuery: "AppAvailabilityResults",
            metricMeasureColumn: null,
            targetResourceTypes: "['Microsoft.OperationalInsights/workspaces']",
            operator: "GreaterThan",
            threshold: "0",
            timeAggregation: "Count",
            dimensions: Object.entries(row).map(([name, value]) => ({ name, value })),
            metricValue: condition === "Fired" ? 1 : null,
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 },
            linkToSearchResultsUI: link,
            linkToFilteredSearchResultsUI: link,
            linkToSearchResultsAPI: "https://api.loganalytics.io/v1/workspaces/w/query",
            linkToFilteredSearchResultsAPI: "https://api.loganalytics.io/v1/workspaces/w/query",
          })),
          windowStartTime: "2026-12-01T01:58:24Z",
          windowEndTime: "2026-12-01T02:58:24Z",
        },
      },
      customProperties: null,
    },
  };
}
