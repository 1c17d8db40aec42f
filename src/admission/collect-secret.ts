// Reads a serving Secret. The private key is compared with its certificate here and goes no further: neither the key nor
// a part of it, nor an error about it, leaves this file.
import { createPrivateKey, X509Certificate } from "node:crypto";
import * as v from "valibot";
import { success } from "../result.ts";
import type { Result } from "../result.ts";
import { servedByPair } from "./served-pair.ts";
import { lastWriterOf, metadata, ownersOf, parseWith, stringMap, text, timeOf } from "./parse-object.ts";
import type { ServingSecret } from "./snapshot.ts";

const secret = v.object({ metadata, type: text, data: stringMap });

/** A Secret with `tls.crt` and `tls.key`, both of which may be missing or anything. Other keys are not looked at. */
export function parseServingSecret(object: unknown): Result<ServingSecret, string> {
  const parsed = parseWith(secret, object);
  if (!parsed.ok) return parsed;
  const { metadata: meta, type, data } = parsed.value;
  const certificates = data["tls.crt"];
  const lastWriter = lastWriterOf(meta, ["f:data", "f:tls.crt"]);
  const createdAt = timeOf(meta.creationTimestamp);
  return success({
    namespace: meta.namespace,
    name: meta.name,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    type,
    annotations: meta.annotations,
    ownerReferences: ownersOf(meta),
    ...(certificates !== undefined && { certificates: new Uint8Array(Buffer.from(certificates, "base64")) }),
    key: keyState(certificates ?? "", data["tls.key"] ?? ""),
    ...(lastWriter && { lastWriter }),
    ...(createdAt && { createdAt }),
  });
}

/**
 * Whether the pair would load, as far as the key goes (Go crypto/tls, X509KeyPair: the first certificate, the first private
 * key). OpenSSL reads both; what it cannot read is `unreadable`, whatever Go would say.
 */
function keyState(certificates: string, key: string): ServingSecret["key"] {
  if (key === "") return "missing";
  try {
    const [first] = servedByPair(Buffer.from(certificates, "base64"));
    if (first === undefined) return "unreadable";
    const leaf = new X509Certificate(first);
    return leaf.checkPrivateKey(createPrivateKey(Buffer.from(key, "base64"))) ? "matches" : "mismatch";
  } catch {
    // Translated and dropped: OpenSSL's message may quote what it read.
    return "unreadable";
  }
}
