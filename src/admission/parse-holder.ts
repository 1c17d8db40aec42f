// Reads webhook configurations into hooks. Which of them are KAI's is decided in objects.ts.
import * as v from "valibot";
import type { Result } from "../result.ts";
import { failure, success } from "../result.ts";
import { count, lastWriterOf, listOf, metadata, ownersOf, parseWith, stringMap, text } from "./parse-object.ts";
import type { Metadata } from "./parse-object.ts";
import type { Holder, HolderKind, Hook, ServiceReference } from "./snapshot.ts";

const strings = listOf(v.string());

const labelSelector = v.nullish(
  v.object({
    matchLabels: stringMap,
    matchExpressions: listOf(v.object({ key: text, operator: text, values: strings })),
  }),
  {},
);

const clientConfig = v.object({
  url: v.nullish(v.string()),
  service: v.nullish(
    v.object({ namespace: v.string(), name: v.string(), path: text, port: v.nullish(v.number(), 443) }),
  ),
  caBundle: text,
});

const webhook = v.object({
  name: v.string(),
  clientConfig: v.looseObject({}),
  rules: listOf(
    v.object({
      apiGroups: strings,
      apiVersions: strings,
      operations: strings,
      resources: strings,
      scope: v.nullish(v.string(), "*"),
    }),
  ),
  namespaceSelector: labelSelector,
  objectSelector: labelSelector,
  matchConditions: listOf(v.object({ name: text, expression: text })),
  failurePolicy: v.nullish(v.string(), "Fail"),
  sideEffects: text,
  timeoutSeconds: v.nullish(count, 10),
});

const configuration = v.object({ metadata, webhooks: listOf(webhook) });

/**
 * The hooks of one webhook configuration, in the order of its `webhooks`, with the defaults of
 * admissionregistration.k8s.io/v1 where a field is left out. Fails on an object that is not one: with a reason for people.
 */
export function parseHooks(kind: HolderKind, object: unknown): Result<readonly Hook[], string> {
  const parsed = parseWith(configuration, object);
  if (!parsed.ok) return parsed;
  const holder = holderOf(kind, parsed.value.metadata);
  const hooks: Hook[] = [];
  for (const [index, entry] of parsed.value.webhooks.entries()) {
    const client = parseWith(clientConfig, entry.clientConfig);
    if (!client.ok) return failure(`webhooks.${index}.clientConfig: ${client.error}`);
    hooks.push(hookOf(holder, index, entry, client.value, parsed.value.metadata));
  }
  return success(hooks);
}

function holderOf(kind: HolderKind, meta: Metadata): Holder {
  return {
    kind,
    name: meta.name,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    generation: meta.generation,
    labels: meta.labels,
    annotations: meta.annotations,
    ownerReferences: ownersOf(meta),
    deleting: meta.deletionTimestamp !== "",
  };
}

function hookOf(
  holder: Holder,
  index: number,
  entry: v.InferOutput<typeof webhook>,
  { service, url, caBundle }: v.InferOutput<typeof clientConfig>,
  meta: Metadata,
): Hook {
  const { name, clientConfig: clientConfigAsRead, ...rest } = entry;
  const bundleField = ["f:webhooks", `k:${JSON.stringify({ name })}`, "f:clientConfig", "f:caBundle"];
  const bundleWriter = lastWriterOf(meta, bundleField);
  return {
    holder,
    index,
    name,
    ...(service && { service }),
    ...(typeof url === "string" && { url }),
    serverName: service ? serverNameOf(service) : hostOf(url ?? ""),
    bundle: new Uint8Array(Buffer.from(caBundle, "base64")),
    clientConfig: clientConfigAsRead,
    ...rest,
    ...(bundleWriter && { bundleWriter }),
  };
}

/** The name that the API server verifies for a Service: never the cluster domain, never the address (apiserver, util/webhook/client.go). */
function serverNameOf({ name, namespace }: ServiceReference): string {
  return `${name}.${namespace}.svc`;
}

/** The host of a URL, an IPv6 address without brackets as Go's `URL.Hostname`; empty where it is no URL. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, "") : "";
}
