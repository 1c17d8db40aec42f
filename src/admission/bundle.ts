// Puts bundles together from bytes and certificates, and takes certificates out again. What a bundle is worth is the
// verdict's business (src/trust); nothing here judges.

const newline = 0x0a;

/** Standard base64 with padding, on one line: the form in which Kubernetes writes `[]byte` fields. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** One PEM block as Go's `pem.EncodeToMemory` writes it: lines of 64 characters, a newline at the end. */
export function pemBlock(der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/**
 * `base` byte for byte, then one block for each certificate. A newline is put between where `base` does not end in one:
 * Go loses both blocks where `-----END CERTIFICATE-----` and `-----BEGIN CERTIFICATE-----` share a line (encoding/pem).
 * Duplicates are not looked for.
 */
export function withCertificates(base: Uint8Array, added: readonly Uint8Array[]): Uint8Array {
  if (added.length === 0) return base;
  const needsNewline = base.length > 0 && base.at(-1) !== newline;
  const blocks = new TextEncoder().encode((needsNewline ? "\n" : "") + added.map(pemBlock).join(""));
  return concatenated(base, blocks);
}

/**
 * Takes out the last block that `withCertificates` wrote for this certificate, and nothing else. Undefined where no block
 * has exactly that form: somebody has rewritten the text, and it is theirs.
 */
export function withoutCertificate(bundle: Uint8Array, der: Uint8Array): Uint8Array | undefined {
  const block = Buffer.from(pemBlock(der));
  const at = Buffer.from(bundle).lastIndexOf(block);
  if (at < 0) return undefined;
  return concatenated(bundle.subarray(0, at), bundle.subarray(at + block.length));
}

/**
 * Whether every PEM block is a certificate. A `tls.crt` may hold a private key by mistake, and a bundle is read by
 * everybody: such bytes are never copied. Only the lines that begin blocks are looked at.
 */
export function holdsOnlyCertificates(pem: Uint8Array): boolean {
  const begins =
    Buffer.from(pem)
      .toString("latin1")
      .match(/-----BEGIN[^\n]*/g) ?? [];
  return begins.every((line) => line.trimEnd() === "-----BEGIN CERTIFICATE-----");
}

export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
