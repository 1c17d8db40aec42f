// Certificate policies over a chain: policiesValid of Go's crypto/x509/verify.go (from 1.24), which follows RFC 5280 §6.1
// as updated by RFC 9618. No policy is asked for, so any valid one will do.
import type { Certificate } from "./certificate.ts";
import { sameBytes } from "./der.ts";
import type { GoRules } from "./go-rules.ts";

/** 2.5.29.32.0, as the content of its object identifier. */
const anyPolicy = "551d2000";

interface Node {
  readonly policy: string;
  expected: readonly string[];
  readonly parents: Set<Node>;
  readonly children: Set<Node>;
}

function makeNode(policy: string, parents: readonly Node[]): Node {
  const node: Node = { policy, expected: [policy], parents: new Set(parents), children: new Set() };
  for (const parent of parents) parent.children.add(node);
  return node;
}

/** One level for each certificate, from the anchor down: the nodes by their policy. */
type Graph = Map<string, Node>[];

/** The three counters of RFC 5280 §6.1.2 (d) to (f). */
interface Counters {
  explicitPolicy: bigint;
  policyMapping: bigint;
  inhibitAnyPolicy: bigint;
}

/** Leaf first, anchor last. The anchor's own policies do not count, and neither do those of a chain of one. */
export function arePoliciesValid(chain: readonly Certificate[], rules: GoRules): boolean {
  const [leaf] = chain;
  if (chain.length <= 1 || leaf === undefined) return true;
  const start = BigInt(chain.length);
  const counters: Counters = { explicitPolicy: start, policyMapping: start, inhibitAnyPolicy: start };
  let graph: Graph | undefined = [new Map([[anyPolicy, makeNode(anyPolicy, [])]])];
  for (const certificate of chain.slice(0, -1).reverse()) {
    if (certificate.policies.length === 0) graph = undefined;
    if (counters.explicitPolicy === 0n && graph === undefined) return false;
    const isLeaf = certificate === leaf;
    const isSelfIssued = sameBytes(certificate.issuer, certificate.subject);
    if (graph !== undefined) {
      addLevel(graph, certificate, counters.inhibitAnyPolicy > 0n || (!isLeaf && isSelfIssued));
      if (!isLeaf && !applyMappings(graph, certificate, counters.policyMapping > 0n, rules)) return false;
    }
    if (!isLeaf) countDown(counters, certificate, isSelfIssued);
  }
  // RFC 5280 §6.1.5 (a) and (b).
  const isExplicit = counters.explicitPolicy <= 1n || leaf.requireExplicitPolicy === 0n;
  return !isExplicit || (graph !== undefined && hasValidPolicy(graph));
}

function level(graph: Graph, back: number): Map<string, Node> {
  return graph.at(-back) ?? new Map<string, Node>();
}

/** RFC 9618 §5.2, 6.1.3 (d). */
function addLevel(graph: Graph, { policies }: Certificate, takesAny: boolean): void {
  const above = level(graph, 1);
  const added = new Map<string, Node>();
  graph.push(added);
  const expecting = new Map<string, Node[]>();
  for (const node of above.values()) {
    for (const policy of node.expected) expecting.set(policy, [...(expecting.get(policy) ?? []), node]);
  }
  const any = above.get(anyPolicy);
  for (const policy of policies.filter((own) => own !== anyPolicy)) {
    const parents = expecting.get(policy) ?? (any === undefined ? [] : [any]);
    if (parents.length > 0) added.set(policy, makeNode(policy, parents));
  }
  if (policies.includes(anyPolicy) && takesAny) {
    const missing = [...expecting].filter(([policy]) => !added.has(policy));
    for (const [policy, parents] of missing) added.set(policy, makeNode(policy, parents));
  }
  prune(graph);
}

/** Drops nodes without children above the last level, from below upwards; the root stays. */
function prune(graph: Graph): void {
  for (const nodes of graph.slice(1, -1).reverse()) {
    for (const node of [...nodes.values()].filter(({ children }) => children.size === 0)) {
      for (const parent of node.parents) parent.children.delete(node);
      nodes.delete(node.policy);
    }
  }
}

/** RFC 9618 §5.3, 6.1.4 (a) and (b). False for a mapping from or to anyPolicy. */
function applyMappings(graph: Graph, { policyMappings }: Certificate, isMappingOn: boolean, rules: GoRules): boolean {
  const leaves = level(graph, 1);
  const mappings = new Map<string, string[]>();
  for (const { issuerDomain, subjectDomain } of policyMappings) {
    if (isMappingOn) {
      if (issuerDomain === anyPolicy || subjectDomain === anyPolicy) return false;
      mappings.set(issuerDomain, [...(mappings.get(issuerDomain) ?? []), subjectDomain]);
    } else {
      deleteLeaf(leaves, issuerDomain);
      if (!rules.policyPrunedOnce) prune(graph);
    }
  }
  if (policyMappings.length > 0 && rules.policyPrunedOnce) prune(graph);
  for (const [issuerDomain, expected] of mappings) {
    const any = leaves.get(anyPolicy);
    const node = leaves.get(issuerDomain) ?? (any && makeNode(issuerDomain, [any]));
    if (node === undefined) continue;
    node.expected = expected;
    leaves.set(issuerDomain, node);
  }
  return true;
}

function deleteLeaf(leaves: Map<string, Node>, policy: string): void {
  const node = leaves.get(policy);
  if (node === undefined) return;
  for (const parent of node.parents) parent.children.delete(node);
  leaves.delete(policy);
}

/** RFC 5280 §6.1.4 (h) to (j). */
function countDown(counters: Counters, certificate: Certificate, isSelfIssued: boolean): void {
  if (!isSelfIssued) {
    for (const name of ["explicitPolicy", "policyMapping", "inhibitAnyPolicy"] as const) {
      if (counters[name] > 0n) counters[name] -= 1n;
    }
  }
  const lower = (current: bigint, limit: bigint | undefined): bigint =>
    limit !== undefined && limit >= 0n && limit < current ? limit : current;
  counters.explicitPolicy = lower(counters.explicitPolicy, certificate.requireExplicitPolicy);
  counters.policyMapping = lower(counters.policyMapping, certificate.inhibitPolicyMapping);
  counters.inhibitAnyPolicy = lower(counters.inhibitAnyPolicy, certificate.inhibitAnyPolicy);
}

/** RFC 9618 §5.4, 6.1.5 (g): a policy that comes from anyPolicy alone, or anyPolicy down to the leaf. */
function hasValidPolicy(graph: Graph): boolean {
  const comesFromAny = ({ policy, parents }: Node): boolean =>
    policy !== anyPolicy && parents.size === 1 && [...parents].every((parent) => parent.policy === anyPolicy);
  return level(graph, 1).has(anyPolicy) || graph.some((nodes) => [...nodes.values()].some(comesFromAny));
}
