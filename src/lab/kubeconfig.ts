// A kubeconfig for the lab in a folder of its own under the system's temporary one. It holds the lab's token: the file is
// readable for its owner only, and the lab removes it when it stops.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

export interface KubeconfigParts {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
  readonly user: string;
}

export interface Kubeconfig {
  readonly file: string;
  readonly remove: () => Promise<void>;
}

/** Writes it, with the one context `lab`. */
export async function writeKubeconfig({ url, caPem, token, user }: KubeconfigParts): Promise<Kubeconfig> {
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-lab-"));
  const file = path.join(folder, "kubeconfig");
  const text = `apiVersion: v1
kind: Config
current-context: lab
clusters:
  - name: lab
    cluster:
      server: ${url}
      certificate-authority-data: ${Buffer.from(caPem).toString("base64")}
users:
  - name: ${user}
    user:
      token: ${token}
contexts:
  - name: lab
    context:
      cluster: lab
      user: ${user}
`;
  await writeFile(file, text, { mode: 0o600 });
  return {
    file,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
