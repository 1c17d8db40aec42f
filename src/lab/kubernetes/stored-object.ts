// The shapes that the lab's API server reads of what it stores. Objects are kept as JSON and served as they are; these
// schemas name only the fields that the lab itself acts on. Not here: validation as the real API server does it.
import * as v from "valibot";

const strings = v.record(v.string(), v.string());

export const metadataSchema = v.looseObject({
  name: v.string(),
  namespace: v.optional(v.string()),
  uid: v.optional(v.string()),
  resourceVersion: v.optional(v.string()),
  generation: v.optional(v.number()),
  creationTimestamp: v.optional(v.string()),
  deletionTimestamp: v.optional(v.string()),
  labels: v.optional(strings),
  annotations: v.optional(strings),
  managedFields: v.optional(v.array(v.record(v.string(), v.unknown()))),
});

export const storedObjectSchema = v.looseObject({
  apiVersion: v.string(),
  kind: v.string(),
  metadata: metadataSchema,
});

/** Any object of the lab. What is beside `metadata` is JSON. */
export type StoredObject = v.InferOutput<typeof storedObjectSchema>;

const labelSelectorSchema = v.object({
  matchLabels: v.optional(strings),
  matchExpressions: v.optional(
    v.array(v.object({ key: v.string(), operator: v.string(), values: v.optional(v.array(v.string())) })),
  ),
});

export type LabelSelector = v.InferOutput<typeof labelSelectorSchema>;

const webhookSchema = v.looseObject({
  name: v.string(),
  clientConfig: v.object({
    caBundle: v.optional(v.pipe(v.string(), v.base64())),
    // The lab calls Services only: no hook of KAI has a URL.
    service: v.object({
      namespace: v.string(),
      name: v.string(),
      path: v.optional(v.string()),
      port: v.optional(v.number(), 443),
    }),
  }),
  rules: v.array(
    v.looseObject({
      apiGroups: v.array(v.string()),
      apiVersions: v.array(v.string()),
      operations: v.array(v.string()),
      resources: v.array(v.string()),
    }),
  ),
  namespaceSelector: v.optional(labelSelectorSchema, {}),
  objectSelector: v.optional(labelSelectorSchema, {}),
  failurePolicy: v.optional(v.string(), "Fail"),
  timeoutSeconds: v.optional(v.number(), 10),
  matchConditions: v.optional(v.array(v.looseObject({ expression: v.string() })), []),
});

export type Webhook = v.InferOutput<typeof webhookSchema>;

export const webhookConfigurationSchema = v.looseObject({
  ...storedObjectSchema.entries,
  webhooks: v.optional(v.array(webhookSchema), []),
});

export const secretSchema = v.looseObject({
  ...storedObjectSchema.entries,
  data: v.optional(v.record(v.string(), v.pipe(v.string(), v.base64())), {}),
});

export type Secret = v.InferOutput<typeof secretSchema>;

export const serviceSchema = v.looseObject({
  ...storedObjectSchema.entries,
  spec: v.looseObject({
    clusterIP: v.string(),
    selector: strings,
    ports: v.array(v.looseObject({ port: v.number(), targetPort: v.number() })),
  }),
});

export const podSchema = v.looseObject({
  ...storedObjectSchema.entries,
  spec: v.looseObject({
    containers: v.pipe(v.array(v.looseObject({ name: v.string(), image: v.string() })), v.minLength(1)),
  }),
});

export const deploymentSchema = v.looseObject({
  ...storedObjectSchema.entries,
  spec: v.looseObject({ template: v.looseObject({ spec: v.unknown() }), replicas: v.number() }),
});

export const leaseSchema = v.looseObject({
  ...storedObjectSchema.entries,
  spec: v.optional(v.looseObject({})),
});
