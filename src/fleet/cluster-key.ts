// The key under which the table keeps what is known of one cluster. Nothing of it is read back: the rows hold the id.
import { createHash } from "node:crypto";

const clusterId =
  /^\/subscriptions\/([^/]+)\/resourcegroups\/([^/]+)\/providers\/microsoft\.containerservice\/managedclusters\/([^/]+)$/;

/** Whether a text is the id of a managed cluster, in lower case. */
export function isClusterId(text: string): boolean {
  return text === text.toLowerCase() && clusterId.test(text);
}

/** The names in a cluster's id, in lower case as the id is. Throws on anything else. */
export function namesIn(id: string): {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly name: string;
} {
  const [, subscription, resourceGroup, name] = clusterId.exec(id) ?? [];
  if (subscription === undefined || resourceGroup === undefined || name === undefined)
    throw new Error(`${id} is not an id`);
  return { subscription, resourceGroup, name };
}

/** Table storage allows 1 KiB for a key; our Table port 512 characters, of which a caller may want some for itself. */
const longest = 400;

/**
 * `<subscription>:<resource group>:<name>` in `[a-z0-9:._-]`. Resource groups may be named with underscores, parentheses
 * and letters of any script (Microsoft Learn, "Naming rules and restrictions for Azure resources"): `_` becomes `__`, and
 * what is not allowed its code point between underscores. Two ids never share a key. Throws on what is no lower-case id
 * of a cluster: ids are made so where they enter.
 */
export function clusterKey(id: string): string {
  const [, ...parts] = clusterId.exec(id) ?? [];
  if (parts.length === 0 || id !== id.toLowerCase()) throw new Error(`${id} is not a cluster's id in lower case`);
  const key = parts.map(escaped).join(":");
  if (key.length <= longest) return key;
  return `${key.slice(0, longest - 65)}_${createHash("sha256").update(id).digest("hex")}`;
}

function escaped(part: string): string {
  return part.replaceAll(/[^a-z0-9.-]/gu, (sign) => (sign === "_" ? "__" : `_${sign.codePointAt(0) ?? 0}_`));
}
