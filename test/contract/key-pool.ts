// RSA pairs for the lab's tests: making one takes a tenth of a second and more, and a test needs generations that differ,
// not keys that nobody has seen.
import { generateKeys, type KeyPair } from "../../src/trust/mint.ts";

/** Gives the pairs in turn. Three: an installation, a fault and its healing never meet the same one. */
export function keyPool(): () => Promise<KeyPair> {
  const pairs = Array.from({ length: 3 }, () => generateKeys("rsa-2048"));
  let next = 0;
  return async () => {
    const pair = await pairs[next++ % pairs.length];
    return pair ?? generateKeys("rsa-2048");
  };
}
