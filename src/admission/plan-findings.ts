// Which findings a backend has. How bad they are is in them; what is done about them is decided elsewhere.
import type { Finding, HookReference } from "./finding.ts";
import { type RepairCase, isSameEntry } from "./plan-case.ts";
import type { Backend } from "./snapshot.ts";

/** Whether a finding is about this backend: by one of its hooks, its Service or its Secret. */
export function isAbout(finding: Finding, { hooks, backend }: RepairCase): boolean {
  const byHook = hooksOf(finding).some((reference) => hooks.some((hook) => isSameEntry(reference, hook)));
  return byHook || isNamed(backend, finding);
}

/** The hooks that a finding names; none where it names a Service, a Secret or a Deployment. */
export function hooksOf(finding: Finding): readonly HookReference[] {
  if ("hook" in finding) return [finding.hook];
  if ("hooks" in finding) return finding.hooks;
  return "bundles" in finding ? finding.bundles.map(({ hook }) => hook) : [];
}

/** Findings name objects as `namespace/name`. */
export function isNamed(backend: Backend, finding: Finding): boolean {
  if ("secret" in finding && typeof finding.secret === "string") {
    return finding.secret === `${backend.namespace}/${backend.secretName ?? ""}`;
  }
  return "service" in finding && finding.service === `${backend.namespace}/${backend.service}`;
}
