// A kubeconfig for the lab in a folder of its own under the system's temporary one. It holds the lab's tokens: the file is
// readable for its owner only, and the lab removes it when it stops.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";

export interface KubeconfigParts {
  readonly url: string;
  readonly caPem: string;
  /** One context for each. */
  readonly users: readonly { readonly context: string; readonly name: string; readonly token: string }[];
  readonly currentContext: string;
}

export interface Kubeconfig {
  readonly file: string;
  readonly remove: () => Promise<void>;
}

export async function writeKubeconfig({ url, caPem, users, currentContext }: KubeconfigParts): Promise<Kubeconfig> {
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-lab-"));
  const file = path.join(folder, "kubeconfig");
  const cluster = { server: url, "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  const text = stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": currentContext,
    clusters: [{ name: "lab", cluster }],
    users: users.map(({ name, token }) => ({ name, user: { token } })),
    contexts: users.map(({ context, name }) => ({ name: context, context: { cluster: "lab", user: name } })),
  });
  await writeFile(file, text, { mode: 0o600 });
  return {
    file,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
