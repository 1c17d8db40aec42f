// Azure Monitor's common alert schema, parsed once: what an alert says, as plain data. What to make of it is alert-card.ts's.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-common-schema
import * as v from "valibot";
import { failure, success, type Result } from "../result.ts";

export interface AlertRow {
  /** The columns that the rule splits by, in the order of the rule. Untrusted text. */
  readonly dimensions: readonly { readonly name: string; readonly value: string }[];
  /** An https address of the Azure portal. */
  readonly searchUrl?: string;
}

export interface Alert {
  readonly rule: string;
  /** 0 is the worst. */
  readonly severity: 0 | 1 | 2 | 3 | 4;
  readonly condition: "Fired" | "Resolved";
  readonly firedAt: Date;
  readonly resolvedAt?: Date;
  readonly description: string;
  /** The rule's own custom properties. */
  readonly properties: Readonly<Record<string, string>>;
  readonly targets: readonly string[];
  /** Empty where the alert is not a log alert: other kinds carry no rows. */
  readonly rows: readonly AlertRow[];
}

const time = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), "a time in RFC 3339"),
  v.transform((text) => new Date(text)),
);
const text = v.nullish(v.string(), "");
const severities = { Sev0: 0, Sev1: 1, Sev2: 2, Sev3: 3, Sev4: 4 } as const;

const logCondition = v.object({
  allOf: v.array(
    v.object({
      dimensions: v.nullish(v.array(v.object({ name: v.string(), value: text })), []),
      linkToFilteredSearchResultsUI: text,
      linkToSearchResultsUI: text,
    }),
  ),
});

// Microsoft adds fields without a new version, so unknown ones are let by; those that are used are checked.
const commonAlert = v.object({
  schemaId: v.literal("azureMonitorCommonAlertSchema"),
  data: v.object({
    essentials: v.object({
      alertRule: v.pipe(v.string(), v.minLength(1)),
      severity: v.picklist(["Sev0", "Sev1", "Sev2", "Sev3", "Sev4"]),
      monitorCondition: v.picklist(["Fired", "Resolved"]),
      firedDateTime: time,
      resolvedDateTime: v.nullish(
        v.union([
          v.pipe(
            v.literal(""),
            v.transform(() => null),
          ),
          time,
        ]),
      ),
      description: text,
      alertTargetIDs: v.nullish(v.array(v.string()), []),
    }),
    alertContext: v.nullish(
      v.object({
        properties: v.nullish(v.record(v.string(), v.unknown()), {}),
        conditionType: text,
        condition: v.unknown(),
      }),
    ),
  }),
});

/**
 * The alert, or what is wrong with it: the path and what was expected there, never the value. Log alerts (v2) give their
 * rows; of other kinds, such as the portal's "Test action group", only the essentials are taken.
 */
export function parseCommonAlert(body: unknown): Result<Alert, string> {
  const parsed = v.safeParse(commonAlert, body);
  if (!parsed.success) return failure(mistake(parsed.issues[0]));
  const { essentials, alertContext } = parsed.output.data;
  const rows = alertContext?.conditionType === "LogQueryCriteria" ? logRows(alertContext.condition) : success([]);
  if (!rows.ok) return rows;
  return success({
    rule: essentials.alertRule,
    severity: severities[essentials.severity],
    condition: essentials.monitorCondition,
    firedAt: essentials.firedDateTime,
    ...(essentials.resolvedDateTime ? { resolvedAt: essentials.resolvedDateTime } : {}),
    description: essentials.description,
    properties: texts(alertContext?.properties ?? {}),
    targets: essentials.alertTargetIDs,
    rows: rows.value,
  });
}

function logRows(condition: unknown): Result<readonly AlertRow[], string> {
  const parsed = v.safeParse(logCondition, condition);
  if (!parsed.success) return failure(`in data.alertContext.condition: ${mistake(parsed.issues[0])}`);
  return success(
    parsed.output.allOf.map((row) => {
      const searchUrl = [row.linkToFilteredSearchResultsUI, row.linkToSearchResultsUI].find(isPortal);
      return {
        dimensions: row.dimensions,
        ...(searchUrl ? { searchUrl } : {}),
      };
    }),
  );
}

/** Who has the function key could post any link: only Azure's portals, of the public and the sovereign clouds, get a button. */
function isPortal(link: string | null | undefined): boolean {
  const url = URL.parse(link ?? "");
  return url?.protocol === "https:" && /^portal\.azure\.(com|us|cn)$/.test(url.hostname);
}

const texts = (properties: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

function mistake(issue: v.BaseIssue<unknown>): string {
  const where = v.getDotPath(issue) ?? "the body";
  // Of a property that is not there valibot says its name where it says the type of another.
  if (issue.input === undefined) return `${where} is missing`;
  return `${where} must be ${issue.expected ?? issue.message}`;
}
