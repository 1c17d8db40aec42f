// A route of an HTTP trigger, `clusters/{cluster}/scan`, matched against a path: the part of ASP.NET's route templates
// that Functions document (functions-bindings-http-webhook-trigger, "Customize the HTTP endpoint").
import { AppRefused } from "./refusal.ts";

export type RouteMatch = (path: string) => Readonly<Record<string, string>> | undefined;

/**
 * Answers a matcher that gives the parameters of a decoded path, or undefined where it is another. Literals compare without
 * regard to case. `{name}`, `{name?}` and `{*name}`; constraints such as `{id:int}` are refused, not ignored.
 */
export function routeMatcher(template: string): RouteMatch {
  const parts = template.split("/").filter(Boolean).map(partPattern);
  const pattern = new RegExp(`^${parts.join("")}/?$`, "i");
  return (path) => {
    const groups = pattern.exec(path)?.groups;
    if (groups === undefined) return pattern.test(path) ? {} : undefined;
    return Object.fromEntries(Object.entries(groups).filter((entry): entry is [string, string] => Boolean(entry[1])));
  };
}

function partPattern(part: string): string {
  const parameter = /^\{(\*?)([A-Za-z_]\w*)(\??)\}$/.exec(part);
  if (parameter === null) {
    if (/[{}]/.test(part)) throw new AppRefused(`The route part '${part}' is more than this local host reads.`);
    return `/${part.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")}`;
  }
  const [, all, name = "", optional] = parameter;
  if (all === "*") return `(?:/(?<${name}>.*))?`;
  return optional === "?" ? `(?:/(?<${name}>[^/]+))?` : `/(?<${name}>[^/]+)`;
}
