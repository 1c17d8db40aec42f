// Reads the single answers: the version, the rights, `kai-config`.
import * as v from "valibot";
import type { Result } from "../result.ts";
import { failure, success } from "../result.ts";
import type { GoRelease } from "../trust/verdict.ts";
import { listOf, metadata, parseWith, text } from "./parse-object.ts";
import type { KaiConfig, ServerVersion } from "./snapshot.ts";

const releases = ["1.19", "1.20", "1.21", "1.22", "1.23", "1.24", "1.25", "1.26"] as const satisfies GoRelease[];
const oldestMinor = 19;

const version = v.object({ gitVersion: text, goVersion: v.string() });

/**
 * `GET /version`. A Go release later than we know is judged as the newest known, an earlier one as the oldest (AKS has
 * offered none for years). The patch counts only for a release that we know: few chains are judged differently by it, and
 * those are undetermined without. Fails where the release cannot be read at all.
 */
export function parseVersion(answer: unknown): Result<ServerVersion, string> {
  const parsed = parseWith(version, answer);
  if (!parsed.ok) return parsed;
  const [, minor, patch] = /^go1\.(\d+)(?:\.(\d+))?/.exec(parsed.value.goVersion) ?? [];
  if (minor === undefined) return failure(`goVersion is ${JSON.stringify(parsed.value.goVersion)}, not a Go release`);
  const place = Math.min(Math.max(Number(minor) - oldestMinor, 0), releases.length - 1);
  const go = releases[place] ?? "1.26";
  const isKnown = patch !== undefined && go === `1.${minor}`;
  return success({ ...parsed.value, go, ...(isKnown && { goPatch: Number(patch) }) });
}

const strings = listOf(v.string());
const rules = v.object({
  status: v.object({
    resourceRules: listOf(v.object({ verbs: strings, apiGroups: strings, resources: strings, resourceNames: strings })),
    incomplete: v.nullish(v.boolean(), false),
  }),
});
export type ResourceRule = v.InferOutput<typeof rules>["status"]["resourceRules"][number];

/** A SelfSubjectRulesReview. `incomplete`: an authorizer that cannot list its rules may allow more (Azure RBAC's webhook). */
export function parseRules(answer: unknown) {
  const parsed = parseWith(rules, answer);
  return parsed.ok ? success(parsed.value.status) : parsed;
}

const review = v.object({ status: v.object({ allowed: v.boolean() }) });

/** A SelfSubjectAccessReview. */
export function parseReview(answer: unknown): Result<boolean, string> {
  const parsed = parseWith(review, answer);
  return parsed.ok ? success(parsed.value.status.allowed) : parsed;
}

const named = v.nullish(v.string());
const kaiConfig = v.object({
  metadata,
  spec: v.nullish(
    v.object({
      global: v.nullish(v.object({ schedulerName: named }), {}),
      admission: v.nullish(
        v.object({ mutatingWebhookConfigurationName: named, validatingWebhookConfigurationName: named }),
        {},
      ),
      podGroupController: v.nullish(v.object({ webhooks: v.nullish(v.unknown()) }), {}),
    }),
    {},
  ),
});

/** KAI's own default (pkg/common/constants, DefaultSchedulerName); later charts leave the field out. */
const defaultSchedulerName = "kai-scheduler";

/** `configs.kai.scheduler/kai-config`. Its status is not read: it says Available also where no bundle can be written. */
export function parseKaiConfig(answer: unknown): Result<KaiConfig, string> {
  const parsed = parseWith(kaiConfig, answer);
  if (!parsed.ok) return parsed;
  const { global, admission, podGroupController } = parsed.value.spec;
  const mutating = admission.mutatingWebhookConfigurationName;
  const validating = admission.validatingWebhookConfigurationName;
  return success({
    uid: parsed.value.metadata.uid,
    schedulerName: global.schedulerName ?? defaultSchedulerName,
    ...(typeof mutating === "string" && { mutatingConfigurationName: mutating }),
    ...(typeof validating === "string" && { validatingConfigurationName: validating }),
    speaksOfPodgroupWebhook: podGroupController.webhooks !== undefined && podGroupController.webhooks !== null,
  });
}
