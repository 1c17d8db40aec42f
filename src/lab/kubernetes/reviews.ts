// SelfSubjectAccessReview and SelfSubjectRulesReview: what the caller may do, as the API server answers it. Every user may
// ask (ClusterRole system:basic-user).
import * as v from "valibot";
import { mayDo, rulesReviewStatus, type Right } from "./rights.ts";
import { answer, badRequest, type Answer } from "./status.ts";

const accessSchema = v.looseObject({
  spec: v.object({
    resourceAttributes: v.object({
      group: v.optional(v.string(), ""),
      resource: v.string(),
      subresource: v.optional(v.string(), ""),
      verb: v.string(),
      namespace: v.optional(v.string(), ""),
      name: v.optional(v.string(), ""),
      version: v.optional(v.string()),
    }),
  }),
});

const rulesSchema = v.looseObject({ spec: v.object({ namespace: v.string() }) });

/** The path of a review below `/apis/authorization.k8s.io/v1`, and its answer; undefined for any other path. */
export function reviewAnswer(path: string, body: unknown, rights: readonly Right[]): Answer | undefined {
  switch (path) {
    case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
      return accessReview(body, rights);
    case "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews":
      return rulesReview(body, rights);
    default:
      return undefined;
  }
}

function accessReview(body: unknown, rights: readonly Right[]): Answer {
  const parsed = v.safeParse(accessSchema, body);
  if (!parsed.success) return badRequest("the lab cannot read this SelfSubjectAccessReview");
  const { group, resource, subresource, verb, namespace, name } = parsed.output.spec.resourceAttributes;
  const allowed = mayDo(rights, { resource: { group, plural: resource }, subresource, verb, namespace, name });
  return reviewed("SelfSubjectAccessReview", parsed.output.spec, { allowed });
}

function rulesReview(body: unknown, rights: readonly Right[]): Answer {
  const parsed = v.safeParse(rulesSchema, body);
  if (!parsed.success) return badRequest("the lab cannot read this SelfSubjectRulesReview");
  return reviewed("SelfSubjectRulesReview", {}, rulesReviewStatus(rights, parsed.output.spec.namespace));
}

function reviewed(kind: string, spec: unknown, status: unknown): Answer {
  return answer({ kind, apiVersion: "authorization.k8s.io/v1", metadata: {}, spec, status }, 201);
}
