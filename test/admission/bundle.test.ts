import { describe, expect, it } from "vitest";
import { holdsOnlyCertificates, pemBlock, withCertificates, withoutCertificate } from "../../src/admission/bundle.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined): string | undefined => value && new TextDecoder().decode(value);

// Forty-nine bytes make 68 characters of base64: one full line and four characters more.
const long = new Uint8Array(49).fill(0x41);
const short = new Uint8Array([1, 2, 3]);
const longBlock =
  "-----BEGIN CERTIFICATE-----\n" +
  "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB\n" +
  "QQ==\n" +
  "-----END CERTIFICATE-----\n";
const shortBlock = "-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n";

describe("bundle", () => {
  it("writes lines of 64 characters and ends in a newline", () => {
    expect(pemBlock(long)).toBe(longBlock);
  });

  it.each([
    { name: "nothing", base: "", expected: shortBlock },
    { name: "a block", base: longBlock, expected: longBlock + shortBlock },
    { name: "a block without its last newline", base: longBlock.trimEnd(), expected: longBlock + shortBlock },
    { name: "junk", base: "junk", expected: "junk\n" + shortBlock },
  ])("begins an added block on a line of its own, after $name", ({ base, expected }) => {
    expect(text(withCertificates(bytes(base), [short]))).toBe(expected);
  });

  it("keeps the bytes as they are where nothing is added", () => {
    expect(text(withCertificates(bytes("junk"), []))).toBe("junk");
  });

  it("gives the bytes back when the added block is taken out", () => {
    expect(text(withoutCertificate(withCertificates(bytes(longBlock), [short]), short))).toBe(longBlock);
  });

  it("takes out nothing from a text that was rewritten", () => {
    expect(withoutCertificate(bytes(longBlock.replaceAll("\n", "\r\n")), long)).toBeUndefined();
  });

  it.each([
    { name: "a certificate", pem: shortBlock, expected: true },
    { name: "a certificate with line ends of Windows", pem: shortBlock.replaceAll("\n", "\r\n"), expected: true },
    { name: "no block at all", pem: "junk", expected: true },
    { name: "a private key after it", pem: `${shortBlock}-----BEGIN RSA PRIVATE KEY-----\n`, expected: false },
    { name: "a private key on the same line", pem: `x-----BEGIN PRIVATE KEY-----\n`, expected: false },
  ])("says whether only certificates are in it: $name", ({ pem, expected }) => {
    expect(holdsOnlyCertificates(bytes(pem))).toBe(expected);
  });
});
