// Makes certificates: exactly those that KAI makes for its webhooks, and others as tests, the lab and a repair need them.
// The only file of src/trust that draws keys at random. Nothing here judges a certificate.
import "reflect-metadata"; // @peculiar/x509 2.2.0 stops at its import without it (tsyringe asks for the polyfill).
import { KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

export type KeyPair = webcrypto.CryptoKeyPair;
export type KeyKind = "ec-p256" | "ec-p384" | "ec-p521" | "ed25519" | "rsa-2048" | "rsa-4096";

export interface MintedCertificate {
  readonly der: Uint8Array;
  /** One PEM block, byte for byte as Go's `pem.EncodeToMemory` writes it. */
  readonly pem: string;
  /** The private key: PKCS#1 `RSA PRIVATE KEY` for RSA, PKCS#8 `PRIVATE KEY` for the rest. Never log it. */
  readonly keyPem: string;
  readonly keys: KeyPair;
}

const generation: Record<KeyKind, webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams | { name: "Ed25519" }> = {
  "ec-p256": { name: "ECDSA", namedCurve: "P-256" },
  "ec-p384": { name: "ECDSA", namedCurve: "P-384" },
  "ec-p521": { name: "ECDSA", namedCurve: "P-521" },
  ed25519: { name: "Ed25519" },
  "rsa-2048": rsa(2048),
  "rsa-4096": rsa(4096),
};

function rsa(modulusLength: number): webcrypto.RsaHashedKeyGenParams {
  // 65537 is the exponent of Go's rsa.GenerateKey.
  return { name: "RSASSA-PKCS1-v1_5", modulusLength, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
}

/** A fresh key pair. RSA takes about a tenth of a second and more: make it once and pass it to several certificates. */
export async function generateKeys(kind: KeyKind): Promise<KeyPair> {
  return (await webcrypto.subtle.generateKey(generation[kind], true, ["sign", "verify"])) as KeyPair;
}

export interface KaiCertificateOptions {
  /** `<service>.<namespace>.svc`: the common name and the only subject alternative name. */
  readonly serverName: string;
  /** KAI takes the time of making, not backdated. Precision: seconds. */
  readonly notBefore: Date;
  /** KAI: ten years later. Given only to mint one that KAI made long ago or never would. */
  readonly notAfter?: Date;
  /** An RSA-2048 pair, where making a new one for each certificate is too slow. */
  readonly keys?: KeyPair;
}

/**
 * What KAI's `GenerateSelfSignedCert` makes (NVIDIA/KAI-Scheduler, the same in v0.2.0 and all later releases): RSA-2048,
 * SHA256-RSA, serial 2019, subject and issuer `CN=<host>`, ten years, and a subject alternative name that is not
 * critical as the only extension: no basicConstraints, no key usage, no key identifiers.
 */
export async function mintKaiCertificate(options: KaiCertificateOptions): Promise<MintedCertificate> {
  return mintCertificate({
    subject: options.serverName,
    serialNumber: 2019n,
    notBefore: options.notBefore,
    notAfter: options.notAfter ?? tenYearsAfter(options.notBefore),
    dnsNames: [options.serverName],
    keyIdentifiers: false,
    keys: options.keys ?? (await generateKeys("rsa-2048")),
  });
}

/** Go's `AddDate(10, 0, 0)`: 29 February becomes 1 March where there is none, as `setUTCFullYear` does it. */
function tenYearsAfter(date: Date): Date {
  const later = new Date(date);
  later.setUTCFullYear(date.getUTCFullYear() + 10);
  return later;
}

export type StringType = "printableString" | "utf8String" | "ia5String" | "bmpString";

export interface NameAttribute {
  /** `CN`, `O`, `OU`, … or a dotted object identifier. */
  readonly type: string;
  readonly value: string;
  /** Default: PrintableString where the value allows it, else UTF8String, as Go's encoding/asn1 chooses. */
  readonly as?: StringType;
}

export interface RawExtension {
  readonly oid: string;
  readonly critical?: boolean;
  /** DER of the value inside the OCTET STRING. */
  readonly value: Uint8Array;
}

// In the order of their bits (RFC 5280 §4.2.1.3). decipherOnly, the ninth, is left out: it would need a second octet.
const keyUsages = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
] as const;

const purposeOid = {
  any: "2.5.29.37.0",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  codeSigning: "1.3.6.1.5.5.7.3.3",
} as const;

export interface MintOptions {
  /** A common name, or the attributes in order, one RDN each. An empty one gives an empty subject. */
  readonly subject: string | readonly NameAttribute[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Who signs. Absent: self-signed. */
  readonly issuer?: MintedCertificate;
  /** The pair of the certificate itself. Absent: a fresh one of `keyKind`. */
  readonly keys?: KeyPair;
  /** Default `ec-p256`: the fastest to make. */
  readonly keyKind?: KeyKind;
  /** Default: random. Positive: zero and negative ones are thrown at. */
  readonly serialNumber?: bigint;
  /** Gives a critical basicConstraints with cA TRUE. For any other form use `extensions`. */
  readonly ca?: boolean;
  /** Only together with `ca`. */
  readonly pathLength?: number;
  /** An empty list gives the extension with no bit set. */
  readonly keyUsage?: readonly (typeof keyUsages)[number][];
  readonly extendedKeyUsage?: readonly (keyof typeof purposeOid)[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /**
   * Default true, and then as Go's `x509.CreateCertificate`: a CA gets a subject key identifier, and what an issuer with
   * one signs gets an authority key identifier.
   */
  readonly keyIdentifiers?: boolean;
  /** Put after all others, as they are. */
  readonly extensions?: readonly RawExtension[];
  /** Default `SHA-256`. Ed25519 has its own. */
  readonly hash?: "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";
}

/**
 * Mints an X.509 v3 certificate: a CA, an intermediate or a leaf. Times are cut to whole seconds (DER has no fractions).
 * Throws where @peculiar/x509 or WebCrypto refuses the options, which is a mistake of the caller. Not checked: that the
 * issuer is a CA, or is valid at the time.
 */
export async function mintCertificate(options: MintOptions): Promise<MintedCertificate> {
  const keys = options.keys ?? (await generateKeys(options.keyKind ?? "ec-p256"));
  const signer = (options.issuer?.keys ?? keys).privateKey;
  const subject = nameOf(options.subject);
  const issuer = options.issuer === undefined ? undefined : new x509.X509Certificate(options.issuer.der);
  const certificate = await x509.X509CertificateGenerator.create({
    // Without a number @peculiar/x509 draws 16 octets.
    ...(options.serialNumber === undefined ? {} : { serialNumber: evenHex(options.serialNumber) }),
    subject,
    issuer: issuer?.subjectName ?? subject,
    notBefore: wholeSeconds(options.notBefore),
    notAfter: wholeSeconds(options.notAfter),
    publicKey: keys.publicKey,
    signingKey: signer,
    signingAlgorithm: { name: signer.algorithm.name, hash: options.hash ?? "SHA-256" },
    extensions: [
      ...usageExtensions(options),
      ...nameExtensions(options),
      ...(await keyIdentifierExtensions(options, keys, issuer)),
      ...(options.extensions ?? []).map(({ oid, critical = false, value }) => new x509.Extension(oid, critical, value)),
    ],
  });
  const der = new Uint8Array(certificate.rawData);
  return { der, pem: certificatePem(der), keyPem: privateKeyPem(keys), keys };
}

/** One `CERTIFICATE` block as Go's encoding/pem writes it: 64 columns, a line feed after each line and at the end. */
export function certificatePem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function privateKeyPem(keys: KeyPair): string {
  const key = KeyObject.from(keys.privateKey);
  const type = key.asymmetricKeyType === "rsa" ? "pkcs1" : "pkcs8";
  return key.export({ type, format: "pem" }).toString();
}

function nameOf(subject: MintOptions["subject"]): x509.Name {
  if (typeof subject === "string") return nameOf(subject === "" ? [] : [{ type: "CN", value: subject }]);
  return new x509.Name(
    subject.map(({ type, value, as }) => ({
      [type]: [{ [as ?? (isPrintable(value) ? "printableString" : "utf8String")]: value }],
    })),
  );
}

/** The characters of PrintableString (X.680 §41.4). Go writes `*` and `&` as UTF8String. */
function isPrintable(value: string): boolean {
  return /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value);
}

function evenHex(serialNumber: bigint): string {
  if (serialNumber <= 0n) throw new Error(`a serial number must be positive, and ${serialNumber.toString()} is not`);
  const hex = serialNumber.toString(16);
  return hex.padStart(hex.length + (hex.length % 2), "0");
}

function wholeSeconds(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

function usageExtensions(options: MintOptions): x509.Extension[] {
  const extensions: x509.Extension[] = [];
  if (options.keyUsage !== undefined) {
    extensions.push(new x509.Extension("2.5.29.15", true, keyUsageBits(options.keyUsage)));
  }
  if (options.extendedKeyUsage !== undefined) {
    extensions.push(new x509.ExtendedKeyUsageExtension(options.extendedKeyUsage.map((purpose) => purposeOid[purpose])));
  }
  if (options.ca === true) extensions.push(new x509.BasicConstraintsExtension(true, options.pathLength, true));
  return extensions;
}

/** DER BIT STRING of the usages: trailing zero bits are dropped (X.690 §11.2.2). */
function keyUsageBits(usages: NonNullable<MintOptions["keyUsage"]>): Uint8Array {
  if (usages.length === 0) return new Uint8Array([3, 1, 0]);
  const positions = usages.map((usage) => keyUsages.indexOf(usage));
  const octet = positions.reduce((bits, position) => bits | (0x80 >> position), 0);
  return new Uint8Array([3, 2, 7 - Math.max(...positions), octet]);
}

function nameExtensions(options: MintOptions): x509.Extension[] {
  const names = [
    ...(options.dnsNames ?? []).map((value) => ({ type: "dns" as const, value })),
    ...(options.ipAddresses ?? []).map((value) => ({ type: "ip" as const, value })),
  ];
  // RFC 5280 §4.2.1.6: critical where the subject is empty, and only there.
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names, options.subject.length === 0)];
}

async function keyIdentifierExtensions(
  options: MintOptions,
  keys: KeyPair,
  issuer: x509.X509Certificate | undefined,
): Promise<x509.Extension[]> {
  if (options.keyIdentifiers === false) return [];
  const extensions: x509.Extension[] = [];
  if (options.ca === true) extensions.push(await x509.SubjectKeyIdentifierExtension.create(keys.publicKey));
  const issuerKey = issuer?.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  if (issuerKey !== undefined) extensions.push(new x509.AuthorityKeyIdentifierExtension(issuerKey));
  return extensions;
}
