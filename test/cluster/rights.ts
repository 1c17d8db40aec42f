// Applies the manifests of infra/kubernetes, as they are, to the test cluster: fleetmend's users have these rights and no
// others.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import type { Api } from "./api.ts";
import type { KubeObject } from "../../src/lab/kai/kube-object.ts";

const folder = path.join(import.meta.dirname, "..", "..", "infra", "kubernetes");

const plurals: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};

/** Server-side apply of every RBAC object in every file. Throws at a kind that is not RBAC's: the manifests have none. */
export async function applyRights(admin: Api): Promise<void> {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".yaml")) : [];
  for (const file of files) {
    for (const document of parseAllDocuments(readFileSync(path.join(folder, file), "utf8"))) {
      const object = document.toJS() as KubeObject | null;
      if (object !== null) await apply(admin, file, object);
    }
  }
}

async function apply(admin: Api, file: string, object: KubeObject): Promise<void> {
  const plural = plurals[object.kind ?? ""];
  if (plural === undefined) throw new Error(`${file}: ${object.kind ?? "no kind"} is not an object of RBAC`);
  const { name, namespace } = object.metadata;
  const scope = namespace === undefined ? "" : `/namespaces/${namespace}`;
  const call = { body: object, contentType: "application/apply-patch+yaml", query: { force: "true" } };
  const answer = await admin.request("PATCH", `/apis/rbac.authorization.k8s.io/v1${scope}/${plural}/${name}`, call);
  if (answer.status > 299) throw new Error(`${file}: ${JSON.stringify(answer.body)}`);
}
