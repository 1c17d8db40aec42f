// Certificates as KAI makes them, in the form in which they are mounted.
import { mintKaiCertificate, type MintedCertificate } from "../../../src/trust/mint.ts";
import type { Api } from "../api.ts";
import { kaiNamespace } from "./recorded.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** `data` of a serving Secret. */
export interface PairData {
  readonly "tls.crt": string;
  readonly "tls.key": string;
}

export const pairData = ({ pem, keyPem }: MintedCertificate): PairData => ({
  "tls.crt": base64(pem),
  "tls.key": base64(keyPem),
});

/** A new generation for a Service of KAI's, made now. */
export const mintPair = (service: string): Promise<MintedCertificate> =>
  mintKaiCertificate({ serverName: `${service}.${kaiNamespace}.svc`, notBefore: new Date() });

export const secretsPath = `/api/v1/namespaces/${kaiNamespace}/secrets`;

/** Replaces the pair in a Secret that is there, as `kubectl patch` would. */
export async function writePair(api: Api, secret: string, data: Partial<PairData>): Promise<void> {
  await api.merge(`${secretsPath}/${secret}`, { data });
}
