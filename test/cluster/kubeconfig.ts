// Writes kubeconfig files for the users of the test cluster. Nothing here reads one.
import { writeFileSync } from "node:fs";
import type { Access } from "./api.ts";

/**
 * A kubeconfig with one context for each name, all of the same cluster; the last is the current one. JSON, which is YAML
 * too. The file holds tokens: mode 0600.
 */
export function writeKubeconfig(file: string, contexts: Readonly<Record<string, Access>>): string {
  const names = Object.keys(contexts);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: Object.entries(contexts).map(([name, { server, ca }]) => ({
      name,
      cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") },
    })),
    users: Object.entries(contexts).map(([name, { token }]) => ({ name, user: { token } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
    "current-context": names.at(-1) ?? "",
  };
  writeFileSync(file, JSON.stringify(config, undefined, 2), { mode: 0o600 });
  return file;
}
