// The rights that the manifests of infra/kubernetes give, as the lab's authorizer takes them: what works in the lab works
// with what we ask people to apply. Bindings are not followed: each manifest binds its own roles to one subject.
import { readFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { parseAllDocuments } from "yaml";
import type { Right } from "./rights.ts";

export type Capability = "read" | "prove" | "repair";

const strings = v.array(v.string());

const roleSchema = v.object({
  kind: v.picklist(["ClusterRole", "Role"]),
  metadata: v.looseObject({ namespace: v.optional(v.string()) }),
  rules: v.array(
    v.object({
      verbs: strings,
      apiGroups: v.optional(strings, []),
      resources: v.optional(strings, []),
      resourceNames: v.optional(strings),
      nonResourceURLs: v.optional(strings),
    }),
  ),
});

const read = new Map<Capability, Promise<readonly Right[]>>();

/** Every rule of the capability's ClusterRole and Roles. Throws where the manifest cannot be read: a defect. */
export function rightsOf(capability: Capability): Promise<readonly Right[]> {
  const rights = read.get(capability) ?? readRights(capability);
  read.set(capability, rights);
  return rights;
}

async function readRights(capability: Capability): Promise<readonly Right[]> {
  const file = path.join(import.meta.dirname, `../../../infra/kubernetes/${capability}.yaml`);
  const documents = parseAllDocuments(await readFile(file, "utf8")).map((document) => document.toJS() as unknown);
  return documents.flatMap((document) => {
    const role = v.safeParse(roleSchema, document);
    if (!role.success) return [];
    const { namespace } = role.output.metadata;
    // What is not a resource, such as /version, the lab answers to everybody.
    const rules = role.output.rules.filter(({ nonResourceURLs }) => nonResourceURLs === undefined);
    return rules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames === undefined ? {} : { resourceNames }),
      ...(namespace === undefined ? {} : { namespace }),
    }));
  });
}
