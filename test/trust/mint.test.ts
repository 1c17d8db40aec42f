import { X509Certificate, createPrivateKey } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type KeyPair, generateKeys, mintCertificate, mintKaiCertificate } from "../../src/trust/mint.ts";

// Made by KAI v0.7.12's crd-upgrader/webhook hook Job on 30 November 2026 (public certificate only).
const recordedByKai = `-----BEGIN CERTIFICATE-----
MIIC6TCCAdGgAwIBAgICB+MwDQYJKoZIhvcNAQELBQAwIzEhMB8GA1UEAxMYYmlu
ZGVyLmthaS1zY2hlZHVsZXIuc3ZjMB4XDTI2MTEzMDIzMDIwMloXDTM2MTEzMDIz
MDIwMlowIzEhMB8GA1UEAxMYYmluZGVyLmthaS1zY2hlZHVsZXIuc3ZjMIIBIjAN
BgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAq3kcb80g4cfTRNk8RMbq3LU3koUp
DHWSjtjjPlNkQ+xtxDTLw/LIthQP//Tpi7OXruVXG4cOoXH1qvsa2E8U0ymC8WwH
nCoiIFNdmQelG1MPQaLt3NKKafUHaOO9AWKNQ67apai+zLgc+tO+e2ytk1HGlJ2L
qk9TfBAEWpyfIBZZZ5ufVtTgs41Evz3ux5ACKr6i8zVplUdgIXrog/m1PIwxqUGz
w0QYJcypNnXxXG4kHJ72DJ4fSrGt6lXCgD0ruq8vkQYOqmKdFU9D+ecoUdVO1Z+H
7UrjZJUD0RvDQtKaNe7bJWK3OU57n68QfMulJpV6DgiMT/NX8+mo4uIB0QIDAQAB
oycwJTAjBgNVHREEHDAaghhiaW5kZXIua2FpLXNjaGVkdWxlci5zdmMwDQYJKoZI
hvcNAQELBQADggEBAFIxHkcoU0esrb5ttQpcbWi/6YW5SNhTExXGqGc6lUymbbza
oHPDYm3PbxD1PnC9NFuNJzAD3/FqHHeGBbNjDD08WIJ+UZwYA9oax6h5JQvkqOeS
M9dqB/YRBTgq4b1ntjhouqXWhRBv48X1IpTZ4E8t7MPEjcPv+jV8hhbRuCA+hdBx
nilmAgM55jN+r6ujwi3xDoYcfI7bhSPO8i05Tg+5FCNFlZvN3wjK+0n2v+/30lcZ
glgRo7Uc28v/+odZY2NGKRbZHYmZEZSRQvbGHRZ3XAiWtDikdif+b85GU1EEhXyb
PJ7RYl4WxeH6abnq65I49H8zdxq7nD52PwWqvQQ=
-----END CERTIFICATE-----
`;

// In this certificate: the modulus of 256 bytes (after its leading zero) and the signature at the end.
const modulusAt = 171;
const signatureLength = 256;

function withoutKeyAndSignature(der: Uint8Array): string {
  const copy = Buffer.from(der);
  copy.fill(0, modulusAt, modulusAt + 256);
  copy.fill(0, copy.length - signatureLength);
  return copy.toString("hex");
}

const made = new Date("2026-11-30T23:02:02.987Z");
let rsaKeys: KeyPair;

beforeAll(async () => {
  rsaKeys = await generateKeys("rsa-2048");
});

describe("mintKaiCertificate", () => {
  it("makes byte for byte what KAI made, but for key and signature", async () => {
    const minted = await mintKaiCertificate({
      serverName: "binder.kai-scheduler.svc",
      notBefore: made,
      keys: rsaKeys,
    });
    const recorded = new X509Certificate(recordedByKai).raw;
    expect(withoutKeyAndSignature(minted.der)).toBe(withoutKeyAndSignature(recorded));
    expect(minted.pem.replaceAll(/[A-Za-z0-9+/=]/g, "x")).toBe(recordedByKai.replaceAll(/[A-Za-z0-9+/=]/g, "x"));
  });

  it("signs it with its own RSA-2048 key, which it gives as PKCS#1", async () => {
    const minted = await mintKaiCertificate({
      serverName: "binder.kai-scheduler.svc",
      notBefore: made,
      keys: rsaKeys,
    });
    const certificate = new X509Certificate(minted.pem);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(minted.keyPem).toMatch(
      /^-----BEGIN RSA PRIVATE KEY-----\n[A-Za-z0-9+/=\n]+\n-----END RSA PRIVATE KEY-----\n$/,
    );
    expect(certificate.checkPrivateKey(createPrivateKey(minted.keyPem))).toBe(true);
  });

  it("makes a key of its own where none is given", async () => {
    const minted = await mintKaiCertificate({ serverName: "admission.kai.svc", notBefore: made });
    expect(new X509Certificate(minted.der).publicKey.asymmetricKeyDetails).toEqual({
      modulusLength: 2048,
      publicExponent: 65537n,
    });
  });

  it("moves 29 February to 1 March where the tenth year has none, as Go's AddDate does", async () => {
    const leapDay = new Date("2028-02-29T12:00:00Z");
    const minted = await mintKaiCertificate({ serverName: "a.b.svc", notBefore: leapDay, keys: rsaKeys });
    expect(new X509Certificate(minted.der).validToDate).toEqual(new Date("2038-03-01T12:00:00Z"));
  });
});

describe("mintCertificate", () => {
  const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2060-01-01T00:00:00Z") };

  it("makes a root, an intermediate and a leaf that OpenSSL reads and whose signatures hold", async () => {
    const root = await mintCertificate({ ...validity, subject: "root", ca: true, keyUsage: ["keyCertSign"] });
    const middle = await mintCertificate({ ...validity, subject: "middle", issuer: root, ca: true, pathLength: 0 });
    const leaf = await mintCertificate({
      ...validity,
      subject: [
        { type: "O", value: "Acmé" },
        { type: "CN", value: "leaf", as: "utf8String" },
      ],
      issuer: middle,
      serialNumber: 77n,
      keyUsage: ["digitalSignature"],
      extendedKeyUsage: ["serverAuth", "clientAuth"],
      dnsNames: ["a.b.svc", "*.c.svc"],
      ipAddresses: ["10.0.0.1", "fd00::1"],
    });
    const [rootCertificate, middleCertificate, leafCertificate] = [root, middle, leaf].map(
      ({ pem }) => new X509Certificate(pem),
    ) as [X509Certificate, X509Certificate, X509Certificate];
    expect(rootCertificate.verify(rootCertificate.publicKey)).toBe(true);
    expect(middleCertificate.verify(rootCertificate.publicKey)).toBe(true);
    expect(leafCertificate.verify(middleCertificate.publicKey)).toBe(true);
    expect(leafCertificate.checkIssued(middleCertificate)).toBe(true);
    expect([rootCertificate.ca, middleCertificate.ca, leafCertificate.ca]).toEqual([true, true, false]);
    expect(leafCertificate.subject).toBe("O=Acmé\nCN=leaf");
    expect(leafCertificate.serialNumber).toBe("4D");
    expect(leafCertificate.subjectAltName).toBe(
      "DNS:a.b.svc, DNS:*.c.svc, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1",
    );
    expect(leafCertificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    expect(leafCertificate.validToDate).toEqual(new Date("2060-01-01T00:00:00Z"));
  });

  it.each([
    { keyUsage: [], expected: "0403030100" },
    { keyUsage: ["digitalSignature"], expected: "040403020780" },
    { keyUsage: ["cRLSign", "keyCertSign"], expected: "040403020106" },
  ] as const)("writes key usage $keyUsage as the shortest BIT STRING", async ({ keyUsage, expected }) => {
    const minted = await mintCertificate({ ...validity, subject: "x", keyUsage });
    expect(Buffer.from(minted.der).toString("hex")).toContain(`0603551d0f0101ff${expected}`);
  });

  it.each(["ec-p256", "ec-p384", "ec-p521", "ed25519"] as const)("signs with an %s key", async (keyKind) => {
    const minted = await mintCertificate({ ...validity, subject: "", dnsNames: ["a.b.svc"], keyKind });
    const certificate = new X509Certificate(minted.pem);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(minted.keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  it("refuses a serial number that is not positive", async () => {
    await expect(mintCertificate({ ...validity, subject: "x", serialNumber: 0n })).rejects.toThrow(
      "a serial number must be positive, and 0 is not",
    );
  });
});
