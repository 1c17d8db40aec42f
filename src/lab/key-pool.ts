// RSA pairs for the certificates of the lab's KAI: making one takes a tenth of a second and more, and what lives in a lab
// needs generations that differ, not keys that nobody has seen. For nothing else: the pairs are shared by all clusters.
import { generateKeys, type KeyPair } from "../trust/mint.ts";

// An installation of three components, a fault and a new pair for each component never meet the same key: with one key
// Go takes two generations for the same certificate, and says something else (crypto/x509, alreadyInChain).
const size = 7;
const pairs: Promise<KeyPair>[] = [];

/** Gives this process's pairs in turn; each is made when it is first asked for. */
export function keyPool(): () => Promise<KeyPair> {
  let next = 0;
  return () => {
    const place = next % size;
    next += 1;
    return (pairs[place] ??= generateKeys("rsa-2048"));
  };
}
