import { describe, expect, it } from "vitest";
import { parseCommonAlert } from "../../src/web/common-alert.ts";
import { admissionBroken, commonAlert, portalLink } from "../../src/lab/azure/common-alert.ts";
import { alertOf } from "../../src/lab/card-text.ts";

/** The sample with one field of its essentials changed. */
function withEssential(name: string, value: unknown): unknown {
  const body = commonAlert(admissionBroken) as { data: { essentials: object } };
  return { ...body, data: { ...body.data, essentials: { ...body.data.essentials, [name]: value } } };
}

describe("parseCommonAlert", () => {
  it("takes a log alert apart", () => {
    expect(alertOf(commonAlert(admissionBroken))).toEqual({
      rule: "fleetmend-admission-broken",
      severity: 1,
      condition: "Fired",
      firedAt: new Date("2026-12-01T02:58:24.371Z"),
      description: "",
      properties: admissionBroken.properties,
      targets: ["/subscriptions/s/resourcegroups/rg/providers/microsoft.operationalinsights/workspaces/log"],
      rows: [
        {
          dimensions: [
            { name: "cluster", value: "rg-training/aks-train-03" },
            { name: "hook", value: "ValidatingWebhookConfiguration kai-binder, binder.run.ai" },
            { name: "cause", value: "bundle-stale" },
            { name: "since", value: "2026-12-01T02:45:00Z" },
            { name: "did", value: "made a plan; the mode allows no more" },
          ],
          searchUrl: portalLink,
        },
      ],
    });
  });

  it("reads when a resolved alert ended", () => {
    const alert = alertOf(commonAlert({ ...admissionBroken, condition: "Resolved" }));
    expect(alert.resolvedAt).toEqual(new Date("2026-12-01T03:23:10.100Z"));
  });

  it("takes the essentials of another kind of alert, such as the portal's test", () => {
    const body = commonAlert({ rule: "test" }) as { data: { alertContext: object } };
    const metric = {
      properties: null,
      conditionType: "SingleResourceMultipleMetricCriteria",
      condition: { allOf: "?" },
    };
    const alert = alertOf({ ...body, data: { ...body.data, alertContext: metric } });
    expect([alert.rule, alert.rows, alert.properties]).toEqual(["test", [], {}]);
    expect(alertOf({ ...body, data: { ...body.data, alertContext: null } }).rows).toEqual([]);
  });

  it.each([
    ["another schema", { ...(commonAlert({}) as object), schemaId: "x" }, "schemaId must be"],
    ["no object", "text", "the body must be Object"],
    ["nothing", undefined, "the body is missing"],
    ["an empty object", {}, "schemaId is missing"],
    ["no data", { schemaId: "azureMonitorCommonAlertSchema" }, "data is missing"],
    [
      "an unknown condition",
      withEssential("monitorCondition", "Suppressed"),
      "data.essentials.monitorCondition must be",
    ],
    ["an unknown severity", withEssential("severity", "Sev9"), "data.essentials.severity must be"],
    ["no rule", withEssential("alertRule", ""), "data.essentials.alertRule must be"],
    ["no time", withEssential("firedDateTime", "yesterday"), "data.essentials.firedDateTime must be"],
  ])("refuses %s, and says where", (_name, body, message) => {
    const parsed = parseCommonAlert(body);
    expect(parsed.ok ? "" : parsed.error).toContain(message);
  });

  it("refuses a log alert without its rows", () => {
    const body = commonAlert({}) as { data: { alertContext: object } };
    const broken = { ...body, data: { ...body.data, alertContext: { ...body.data.alertContext, condition: {} } } };
    const parsed = parseCommonAlert(broken);
    expect(parsed).toEqual({
      ok: false,
      error: expect.stringContaining("data.alertContext.condition: allOf is missing") as string,
    });
  });

  it.each([
    ["another host", "https://example.com/"],
    ["a host that only begins like it", "https://portal.azure.com.example.com/"],
    ["http", "http://portal.azure.com/"],
    ["a script", "javascript:alert(1)"],
    ["no address", "see below"],
  ])("takes no link to %s", (_name, link) => {
    expect(alertOf(commonAlert({ link })).rows[0]).not.toHaveProperty("searchUrl");
  });
});
