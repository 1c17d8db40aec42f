// Certificates as KAI makes them, in the form in which they are mounted.
import { generateKeys, mintKaiCertificate, type KeyPair, type MintedCertificate } from "../../../src/trust/mint.ts";
import type { Api } from "../api.ts";
import { kaiNamespace } from "../../../src/lab/kai/recorded.ts";

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

// An RSA pair takes a tenth of a second and more, and each installation and fault wants several. No scenario lives
// through a dozen generations, so that after a dozen the first may come again, in a certificate of its own.
const keyPairs: Promise<KeyPair>[] = [];
const mostKeyPairs = 12;
let generation = 0;

function nextKeys(): Promise<KeyPair> {
  const place = generation % mostKeyPairs;
  generation += 1;
  return (keyPairs[place] ??= generateKeys("rsa-2048"));
}

/** A new generation for a Service of KAI's, made now. */
export async function mintPair(service: string): Promise<MintedCertificate> {
  const keys = await nextKeys();
  return mintKaiCertificate({ serverName: `${service}.${kaiNamespace}.svc`, notBefore: new Date(), keys });
}

export const secretsPath = `/api/v1/namespaces/${kaiNamespace}/secrets`;

/** Replaces the pair in a Secret that is there, as `kubectl patch` would. */
export async function writePair(api: Api, secret: string, data: Partial<PairData>): Promise<void> {
  await api.merge(`${secretsPath}/${secret}`, { data });
}
