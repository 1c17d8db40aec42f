import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KeyPair, generateKeys, mintCertificate, mintKaiCertificate } from "../../src/trust/mint.ts";
import { run } from "./memory-io.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-"));
const file = (name: string): string => path.join(folder, name);
const serverName = "binder.kai-scheduler.svc";

beforeAll(async () => {
  const [keysOfMay, keysOfJune] = [await generateKeys("rsa-2048"), await generateKeys("rsa-2048")];
  const kai = (notBefore: string, keys: KeyPair, name = serverName) =>
    mintKaiCertificate({ serverName: name, notBefore: new Date(notBefore), keys });
  const may = await kai("2026-05-03T10:00:00Z", keysOfMay);
  const june = await kai("2026-06-09T08:30:00Z", keysOfJune);
  const staging = await kai("2026-06-09T08:30:00Z", keysOfJune, "binder.kai-staging.svc");
  const ecKeys = await generateKeys("ec-p256");
  const ca = await mintCertificate({
    subject: "evil\u001b[2J CA",
    keys: ecKeys,
    ca: true,
    keyUsage: ["keyCertSign"],
    notBefore: new Date("2026-01-01T00:00:00Z"),
    notAfter: new Date("2027-01-01T00:00:00Z"),
  });
  writeFileSync(file("may.pem"), may.pem);
  writeFileSync(file("june.pem"), june.pem);
  writeFileSync(file("june.der"), june.der);
  writeFileSync(file("june-with-key.pem"), `${june.keyPem}\nsome words\n${june.pem}`);
  writeFileSync(file("june.b64"), Buffer.from(june.pem).toString("base64"));
  writeFileSync(file("both.pem"), may.pem + june.pem);
  writeFileSync(file("staging.pem"), staging.pem);
  writeFileSync(file("strange.pem"), ca.pem);
  writeFileSync(file("empty"), "");
  writeFileSync(file("garbage"), "kubectl said: not found\n");
  writeFileSync(file("twice.b64"), Buffer.from(Buffer.from(may.pem).toString("base64")).toString("base64"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const explain = async (bundle: string, served: string, ...more: string[]) => {
  const files = ["--bundle", file(bundle), "--served", file(served)];
  const ran = await run(["explain", ...files, "--server-name", serverName, ...more]);
  return { ...ran, text: ran.stdout.replaceAll(/\s+/g, " ") };
};

interface Case {
  readonly name: string;
  readonly files: readonly [string, string, ...string[]];
  readonly code: number;
  readonly says: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: "the served certificate in the bundle is trusted, though it is no CA",
    files: ["june.pem", "june.pem"],
    code: 0,
    says: [
      "✓ trusted The API server accepts it until 9 June 2036: the file june.pem holds the certificate made on 9 June 2026",
    ],
  },
  {
    name: "both generations in the bundle are trusted",
    files: ["both.pem", "june.der"],
    code: 0,
    says: ["✓ trusted", "Bundle, 2 certificates"],
  },
  {
    name: "a drift is told by the dates of both sides",
    files: ["may.pem", "june.pem"],
    code: 1,
    says: [
      "✗ broken The bundle holds the certificate made on 3 May 2026 (sha256 ",
      "and the file june.pem holds the one made on 9 June 2026 (sha256 ",
      "same name, different key. → Put the certificate that is served",
      'parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "binder.kai-scheduler.svc")',
      "Candidates refused 1. binder.kai-scheduler.svc",
      "as issuer of the served leaf: same name, other key",
    ],
  },
  {
    name: "an expired certificate is no drift",
    files: ["june.pem", "june.pem", "--at", "2040-01-01"],
    code: 1,
    says: [
      "which expired on 9 June 2036 08:30:00 UTC, and the handshake is at 1 January 2040 00:00:00 UTC.",
      "no bundle",
    ],
  },
  {
    name: "a certificate that is not valid yet is not re-issued",
    files: ["june.pem", "june.pem", "--at", "2026-06-09T08:00:00Z"],
    code: 1,
    says: ["which is valid from 9 June 2026 08:30:00 UTC on", "→ Wait until then, or set the clock right"],
  },
  {
    name: "a certificate for another name is told by both names",
    files: ["staging.pem", "staging.pem"],
    code: 1,
    says: [
      "asks for binder.kai-scheduler.svc, and the file staging.pem holds a certificate for binder.kai-staging.svc.",
    ],
  },
  {
    name: "an empty bundle means the system roots",
    files: ["empty", "june.pem"],
    code: 1,
    says: [
      "The bundle is empty, so the API server asks the root certificates of its own system",
      "x509: certificate signed by unknown authority",
    ],
  },
  {
    name: "a bundle that is no PEM is not even dialled for",
    files: ["garbage", "june.pem"],
    code: 1,
    says: ["The bundle cannot be read", "unable to parse bytes as PEM block", "Not looked at"],
  },
  {
    name: "a bundle that was encoded twice is no PEM either",
    files: ["twice.b64", "june.pem"],
    code: 1,
    says: ["The bundle cannot be read", "encoded once"],
  },
  {
    name: "the base64 of the field is decoded",
    files: ["june.b64", "june.b64"],
    code: 0,
    says: ["✓ trusted", "june.b64, decoded from base64."],
  },
  {
    name: "an older Go release has its own words",
    files: ["may.pem", "june.pem", "--go", "1.19"],
    code: 1,
    says: ["Go says x509: certificate signed by unknown authority", "Judged as Go 1.19 does"],
  },
];

describe("explain on two files", () => {
  it.each(cases)("$name", async ({ files, code, says }) => {
    const ran = await explain(...files);
    for (const words of says) expect(ran.text).toContain(words);
    expect(ran.stderr).toBe("");
    expect(ran.code).toBe(code);
  });

  it("prints nothing of a private key that lies beside the certificate", async () => {
    const ran = await explain("june-with-key.pem", "june-with-key.pem", "--output", "json");
    expect(ran.code).toBe(0);
    expect(ran.stdout).not.toMatch(/PRIVATE|MII[A-Za-z0-9]/);
  });

  it("shows an escape sequence in a certificate's name instead of obeying it", async () => {
    const ran = await explain("strange.pem", "june.pem");
    expect(ran.stdout).toContain("evil\\u001b[2J CA");
    expect(ran.stdout).not.toContain("\u001b");
  });

  it("colours on a terminal, and not with --no-color or NO_COLOR", async () => {
    const argv = ["explain", "--bundle", file("may.pem"), "--served", file("june.pem"), "--server-name", serverName];
    expect((await run(argv, { terminal: true })).stdout).toContain("\u001b[31;1m✗ broken\u001b[0m  The bundle");
    expect((await run([...argv, "--no-color"], { terminal: true })).stdout).not.toContain("\u001b");
    expect((await run(argv, { terminal: true, env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
    expect((await run(argv)).stdout).not.toContain("\u001b");
  });
});
