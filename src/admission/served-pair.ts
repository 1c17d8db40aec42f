// What a server presents that has loaded a pair: the certificates of `tls.crt`. Whether it can load the pair is not asked.
import { rulesOf } from "../trust/go-rules.ts";
import { readPem } from "../trust/pem.ts";

/**
 * The DER of every CERTIFICATE block, in order, leaf first: all of them are served (Go crypto/tls, X509KeyPair). Empty
 * where there is none. That a block is a certificate is not checked.
 */
export function servedByPair(pem: Uint8Array): readonly Uint8Array[] {
  const newest = rulesOf("1.26").at(-1);
  if (newest === undefined) throw new Error("no rules are known for Go 1.26");
  return readPem(pem, newest).blocks.flatMap(({ type, bytes }) => (type === "CERTIFICATE" ? [bytes] : []));
}
