// The verdict and the API server on generated certificates: each case of the fuzzer's grammar whose leaf's key we have is served
// behind a real webhook, and what the API server says is what the verdict says, times aside.
import { createPublicKey, X509Certificate, type KeyObject } from "node:crypto";
import https from "node:https";
import tls from "node:tls";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { certificatePem } from "../../src/trust/mint.ts";
import type { Verdict } from "../../src/trust/verdict.ts";
import { verifyServed } from "../../src/trust/verify.ts";
import { generateCase, renderCase, type Question } from "../fuzz/case-recipe.ts";
import { releaseOf } from "../fuzz/compare.ts";
import { serverName } from "../fuzz/name-grammar.ts";
import { seededRandom } from "../fuzz/random.ts";
import { keyNames, signingKey } from "../fuzz/signing-keys.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { until } from "./until.ts";
import { createNamespace, type World } from "./world.ts";

const wanted = 800;
const seed = Number(process.env.FLEETMEND_SAMPLE_SEED ?? "1");
const [service = "", namespace = ""] = serverName.split(".");
const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

let world: World;
let release: ReturnType<typeof releaseOf>;
/** The paths that were asked for, by the webhook server. */
const asked = new Set<string>();
const server = https.createServer((request, response) => {
  asked.add(new URL(request.url ?? "/", "https://hook").pathname);
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const { uid } = (JSON.parse(body) as { request: { uid: string } }).request;
    const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true } };
    response.setHeader("content-type", "application/json").end(JSON.stringify(review));
  });
});
/**
 * Handshakes that our own side ended: OpenSSL finds no signature algorithm for the leaf's key and usages, or meets an error that
 * an earlier certificate has left in its queue. What the API server refuses comes as an alert.
 */
let ownFaults = 0;
server.on("tlsClientError", ({ message }) => {
  if (!message.includes("alert")) ownFaults += 1;
});

beforeAll(async () => {
  world = await openClusterUnderTest();
  release = releaseOf(((await world.admin.request("GET", "/version")).body as { goVersion: string }).goVersion);
  await createNamespace(world.admin, namespace);
  const ports = [{ port: 443, targetPort: 9443 }];
  await world.admin.create(`/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: service },
    spec: { ports },
  });
  world.egress.serve(`${namespace}/${service}`, {
    accept: (connection: Duplex) => server.emit("connection", connection),
  });
});

afterAll(async () => {
  await world.admin.remove(`${hooks}/sample`);
  await world.admin.remove(`/api/v1/namespaces/${namespace}/services/${service}`);
  await world.stop();
});

/** OpenSSL's security level would not serve what Go is to judge. */
const anyStrength = { ciphers: "DEFAULT@SECLEVEL=0" } as const;

/** What a server needs to serve the case. Undefined: nobody can, or not with a handshake that gets as far as the verdict. */
function pairFor({ chain }: Question): tls.SecureContextOptions | undefined {
  const [leaf] = chain;
  if (leaf === undefined) return undefined;
  try {
    // OpenSSL serves what it has read: without what stands behind a certificate, and an outermost BER length as DER.
    if (!chain.every((der) => new X509Certificate(der).raw.equals(der))) return undefined;
    const spki = new X509Certificate(leaf).publicKey.export({ type: "spki", format: "der" });
    // TLS 1.3 signs with none of the others.
    const able = keyNames.filter((name) => /^(?:ec-(?:[abc]|384|521)|ed25519|rsa-(?:1024|2048))$/.test(name));
    const key = able.map((name) => signingKey(name).privateKey).find((one) => one !== undefined && sameKey(one, spki));
    if (key === undefined) return undefined;
    const options = {
      cert: chain.map((der) => certificatePem(der)).join(""),
      key: key.export({ type: "pkcs8", format: "pem" }),
      ...anyStrength,
    };
    tls.createSecureContext(options);
    return options;
  } catch {
    // OpenSSL cannot read one of them.
    return undefined;
  }
}

function sameKey(key: KeyObject, spki: Buffer): boolean {
  return createPublicKey(key).export({ type: "spki", format: "der" }).equals(spki);
}

const textOf = (verdict: Verdict): string =>
  verdict.outcome === "broken" ? verdict.goText : verdict.outcome === "trusted" ? "OK" : `open: ${verdict.reason}`;

/** RFC 3339 times: the handshake is a moment later than the verdict. */
const masked = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)/g, "<time>");

/** A fault of an earlier certificate's is gone with the first handshake. */
const mostFaults = 5;

/**
 * Puts the bundle before the API server, has it call the hook, and answers what it says: Go's text, or OK. Undefined where we
 * cannot serve the case.
 */
async function answerTo(question: Question, index: number): Promise<string | undefined> {
  const mark = `case-${index}`;
  const hook = {
    name: `${mark}.sample.example`,
    clientConfig: {
      service: { namespace, name: service, path: `/${mark}` },
      caBundle: Buffer.from(question.caBundle).toString("base64"),
    },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 10,
  };
  const kind = "ValidatingWebhookConfiguration";
  const applied = await world.admin.request("PATCH", `${hooks}/sample`, {
    body: { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name: "sample" }, webhooks: [hook] },
    contentType: "application/apply-patch+yaml",
    query: { force: "true" },
  });
  if (applied.status > 299) throw new Error(JSON.stringify(applied.body));
  let text: string | undefined;
  const faultsBefore = ownFaults;
  await until(`the API server has asked about ${mark}`, async () => {
    const faults = ownFaults;
    const body = { metadata: { generateName: "sample-" } };
    const { status, body: answer } = await world.admin.request("POST", configMaps, { body, query: { dryRun: "All" } });
    if (status === 201) text = asked.has(`/${mark}`) ? "OK" : undefined;
    else {
      const { message = "" } = answer as { message?: string };
      const isCutOff = ownFaults > faults || message.includes("unix @->");
      if (!isCutOff && message.includes(`"${mark}.sample.example"`)) text = goTextIn(message);
    }
    return text !== undefined || ownFaults > faultsBefore + mostFaults;
  });
  // What is kept open would carry the next case without a handshake.
  world.egress.closeConnections(`${namespace}/${service}`);
  return text;
}

const goTextIn = (message: string): string =>
  /could not get REST client: (.*)$/s.exec(message)?.[1] ?? /: Post "[^"]*": (.*)$/s.exec(message)?.[1] ?? message;

it(`says what the API server says, on ${wanted} served chains`, { timeout: 180_000 }, async () => {
  const random = seededRandom(seed);
  const different: string[] = [];
  const kinds = new Map<string, number>();
  let compared = 0;
  let unserved = 0;
  for (let index = 0; compared < wanted; index += 1) {
    const question = { ...renderCase(generateCase(random)), serverName, at: new Date() };
    // Without a bundle the roots of this machine decide.
    const pair = question.caBundle.length === 0 ? undefined : pairFor(question);
    if (pair === undefined) continue;
    server.setSecureContext(pair);
    const ours = verifyServed({ ...question, ...release });
    const theirs = await answerTo(question, index);
    if (theirs === undefined) {
      unserved += 1;
      continue;
    }
    compared += 1;
    if (masked(textOf(ours)) !== masked(theirs))
      different.push(`case ${index}\n  we: ${textOf(ours)}\n  it: ${theirs}`);
    const kind = ours.outcome === "broken" ? ours.cause.kind : ours.outcome;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  process.stdout.write(
    `sampled: ${compared} compared, ${unserved} not served; ${[...kinds].map(([kind, count]) => `${count} ${kind}`).join(", ")}\n`,
  );
  expect(different).toEqual([]);
  expect(unserved).toBeLessThan(wanted / 10);
  expect(kinds.size).toBeGreaterThan(8);
  expect(kinds.get("trusted") ?? 0).toBeGreaterThan(20);
});
