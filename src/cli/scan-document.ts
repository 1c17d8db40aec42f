// The documents of `scan` and of `explain` on a cluster.
import { explainFinding } from "../admission/explain.ts";
import type { Finding } from "../admission/finding.ts";
import type { Hook } from "../admission/snapshot.ts";
import { referenceTo } from "../admission/hook-words.ts";
import type { Scan } from "../admission/judgement.ts";
import type { HookVerdict } from "./explain-screen.ts";
import { type ClusterHead, type Json, head, toJson } from "./json-document.ts";

/** `scan`, and `explain` on a cluster, which adds the verdicts. */
export function scanDocument(
  command: "scan" | "explain",
  scan: Scan,
  clusterHead: ClusterHead & { readonly headline: string },
  verdicts?: readonly HookVerdict[],
): Json {
  const { snapshot, installations, findings, probe } = scan;
  const { at, apiServer, server, requests } = snapshot;
  return toJson({
    ...head(command),
    ...clusterHead,
    at,
    apiServer,
    ...(server.seen ? { version: server.value } : {}),
    installations: installations.map(({ hooks, ...rest }) => ({ ...rest, hooks: hooks.map(referenceTo) })),
    hooks: snapshot.hooks.map(describeHook),
    findings: findings.map(findingDocument),
    probe,
    verdicts,
    requests,
  });
}

function describeHook(hook: Hook): unknown {
  const { serverName, bundle, failurePolicy, bundleWriter } = hook;
  return { ...referenceTo(hook), serverName, bundle, failurePolicy, bundleWriter };
}

/** A finding with its sentences. */
export function findingDocument(finding: Finding): unknown {
  const { sentence, todo } = explainFinding(finding);
  return { ...finding, sentence, todo };
}
