// Label and field selectors, of objects and of query strings. Pure. Grammar and meaning: apimachinery pkg/labels and
// pkg/fields; of field selectors only what every resource has.
import { failure, success, type Result } from "../../result.ts";
import type { LabelSelector, StoredObject } from "./stored-object.ts";

type Labels = Readonly<Record<string, string>>;
type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

/** Whether labels meet a LabelSelector; an empty one is met by everything. An unknown operator is a defect of the lab. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return equal && (selector.matchExpressions ?? []).every((requirement) => meets(requirement, labels));
}

function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      throw new Error(`label selector operator ${operator} is not one of Kubernetes`);
  }
}

/** A `labelSelector` query: `a=b`, `a==b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, joined by commas. */
export function parseLabelSelector(text: string): Result<LabelSelector, string> {
  const requirements: Requirement[] = [];
  // A comma inside parentheses does not separate.
  for (const part of text.split(/,(?![^(]*\))/).map((each) => each.trim())) {
    if (part === "") continue;
    const requirement = parseRequirement(part);
    if (requirement === undefined) return failure(`unable to parse requirement: ${part}`);
    requirements.push(requirement);
  }
  return success({ matchExpressions: requirements });
}

function parseRequirement(part: string): Requirement | undefined {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(part);
  if (set !== null) {
    const [, key = "", operator, values = ""] = set;
    return {
      key,
      operator: operator === "in" ? "In" : "NotIn",
      values: values.split(",").map((value) => value.trim()),
    };
  }
  const comparison = /^([^=!\s]+)\s*(!=|==?)\s*([^=!\s]*)$/.exec(part);
  if (comparison !== null) {
    const [, key = "", operator, value = ""] = comparison;
    return { key, operator: operator === "!=" ? "NotIn" : "In", values: [value] };
  }
  const existence = /^(!?)([^=!\s]+)$/.exec(part);
  return existence === null
    ? undefined
    : { key: existence[2] ?? "", operator: existence[1] === "!" ? "DoesNotExist" : "Exists" };
}

/** A `fieldSelector` query on `metadata.name` and `metadata.namespace`, or the sentence of the API server. */
export function parseFieldSelector(text: string): Result<(object: StoredObject) => boolean, string> {
  const tests: ((object: StoredObject) => boolean)[] = [];
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [, field, operator, value] = /^([^=!]+)(!=|==?)(.*)$/.exec(part) ?? [];
    if (field !== "metadata.name" && field !== "metadata.namespace") {
      return failure(`field label not supported: ${field ?? part}`);
    }
    const key = field === "metadata.name" ? "name" : "namespace";
    tests.push((object) => (object.metadata[key] === value) === (operator !== "!="));
  }
  return success((object) => tests.every((test) => test(object)));
}
