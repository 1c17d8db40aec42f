// Laws of looking that hold for whatever the API server or a pod may answer.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assess } from "../../src/admission/assess.ts";
import { parseServingSecret } from "../../src/admission/collect-secret.ts";
import { explainFinding } from "../../src/admission/explain.ts";
import { parseKaiConfig, parseReview, parseRules, parseVersion } from "../../src/admission/parse-answer.ts";
import { parseHooks } from "../../src/admission/parse-holder.ts";
import { parseDeployment, parseJob, parsePod, parseService, parseSlice } from "../../src/admission/parse-workload.ts";
import { success } from "../../src/result.ts";
import { lookAt, serve } from "./recorded-cluster.ts";
import { healthy, recording } from "./recorded-objects.ts";

const parsers: Readonly<Record<string, (object: unknown) => { readonly ok: boolean }>> = {
  hooks: (object) => parseHooks("MutatingWebhookConfiguration", object),
  service: parseService,
  slice: parseSlice,
  pod: parsePod,
  deployment: parseDeployment,
  job: parseJob,
  secret: parseServingSecret,
  kaiConfig: parseKaiConfig,
  version: parseVersion,
  rules: parseRules,
  review: parseReview,
};

/** Some value somewhere in an object, replaced by another. */
function spoiled(object: unknown, at: number, by: unknown): unknown {
  const places: (() => void)[] = [];
  const copy: unknown = structuredClone(object);
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      places.push(() => Object.assign(value, { [key]: by }));
      visit((value as Record<string, unknown>)[key]);
    }
  };
  visit(copy);
  places[at % places.length]?.();
  return copy;
}

describe("a parser", () => {
  it.each(Object.entries(parsers))("of %s never throws, whatever the answer is", (_, parse) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => typeof parse(value).ok === "boolean"),
      { numRuns: 100 },
    );
  });

  it("never throws on a real object with one value spoiled", () => {
    const { mutating, services, slices, pods, deployments, secrets, kaiConfig } = recording("v0.17.0");
    const objects: readonly (readonly [string, unknown])[] = [
      ["hooks", mutating[0]],
      ["service", services[0]],
      ["slice", slices[0]],
      ["pod", pods[0]],
      ["deployment", deployments[0]],
      ["secret", secrets[0]],
      ["kaiConfig", kaiConfig],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...objects), fc.nat(), fc.jsonValue(), ([name, object], at, by) => {
        expect(() => parsers[name]?.(spoiled(object, at, by))).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});

describe("assess", () => {
  it("never throws, and explains what it finds, whatever bundles, Secrets and pods hold", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 60 }),
        fc.uint8Array({ maxLength: 60 }),
        fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 2 }),
        async (bundle, certificates, chain) => {
          const recorded = recording("v0.5.5");
          for (const { webhooks } of [...recorded.mutating, ...recorded.validating]) {
            for (const { clientConfig } of webhooks) clientConfig.caBundle = Buffer.from(bundle).toString("base64");
          }
          for (const { data } of recorded.secrets) data["tls.crt"] = Buffer.from(certificates).toString("base64");
          const findings = assess(await lookAt(serve(recorded, { handshake: () => success({ chain }) })));
          expect(findings.length).toBeGreaterThan(0);
          for (const finding of findings) expect(explainFinding(finding).sentence).toMatch(/\.$/);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("finds the same, whatever order the lists come in", async () => {
    const recorded = await healthy("v0.17.0");
    const [first] = recorded.validating;
    for (const webhook of first?.webhooks ?? []) webhook.clientConfig.caBundle = "";
    const expected = assess(await lookAt(serve(recorded)));
    for (const list of [recorded.mutating, recorded.validating, recorded.services, recorded.slices, recorded.pods]) {
      list.reverse();
    }
    recorded.deployments.reverse();
    expect(assess(await lookAt(serve(recorded)))).toEqual(expected);
    expect(expected.map(({ kind }) => kind)).toContain("bundle-empty");
  });
});
