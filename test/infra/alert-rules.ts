// The table of alert rules and their queries, as Bicep reads them.
import * as v from "valibot";
import { read } from "./bicep.ts";

const ruleTable = v.strictObject({
  rules: v.array(
    v.strictObject({
      name: v.pipe(v.string(), v.regex(/^[a-z]+(-[a-z]+)*$/)),
      title: v.pipe(v.string(), v.maxLength(60)),
      severity: v.picklist([0, 1, 2, 3, 4]),
      // What Azure Monitor takes: https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-log-alert-rule
      frequency: v.picklist(["PT5M", "PT10M", "PT15M", "PT30M", "PT1H"]),
      window: v.picklist(["PT1H", "PT2H", "PT3H", "PT4H", "PT5H", "PT6H", "P1D"]),
      // Six columns at most can be split by.
      dimensions: v.pipe(
        v.array(v.picklist(["cluster", "hook", "cause", "since", "did"])),
        v.minLength(1),
        v.maxLength(6),
      ),
      receivers: v.array(v.picklist(["email", "forwardAlert"])),
      todo: v.pipe(v.string(), v.minLength(20)),
      resolved: v.pipe(v.string(), v.minLength(20)),
    }),
  ),
});

export const { rules } = v.parse(ruleTable, JSON.parse(read("alerts/rules.json")));
export type AlertRule = (typeof rules)[number];
export const queryOf = (rule: { readonly name: string }): string => read(`alerts/${rule.name}.kql`);
