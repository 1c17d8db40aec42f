// The command line as somebody installs it: packed, installed into another folder without a network, and run there.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { writeCliPackage } from "../../scripts/package/bundle-cli.ts";
import { mintCertificate } from "../../src/trust/mint.ts";
import { version } from "../../src/version.ts";

const run = promisify(execFile);
const elsewhere = mkdtempSync(path.join(tmpdir(), "elsewhere-"));
const fleetmend = path.join(elsewhere, "node_modules", ".bin", "fleetmend");

beforeAll(async () => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), "cli-package-")), "cli");
  await writeCliPackage(folder);
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", elsewhere], { cwd: folder });
  writeFileSync(path.join(elsewhere, "package.json"), '{"private":true}');
  // Offline: had it a dependency left to fetch, this would fail.
  const install = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", `./${stdout.trim()}`];
  await run("npm", install, { cwd: elsewhere });
}, 120_000);

describe("the installed command line", () => {
  it("prints its version", async () => {
    expect(await run(fleetmend, ["--version"])).toMatchObject({ stdout: `${version}\n`, stderr: "" });
  });

  it("explains two files", async () => {
    const dates = { notBefore: new Date("2026-05-03T12:00:00Z"), notAfter: new Date("2036-05-03T12:00:00Z") };
    const { pem } = await mintCertificate({ subject: "binder.kai.svc", dnsNames: ["binder.kai.svc"], ...dates });
    const file = path.join(elsewhere, "binder.pem");
    writeFileSync(file, pem);
    const files = ["--bundle", file, "--served", file, "--server-name", "binder.kai.svc"];
    const { stdout } = await run(fleetmend, ["explain", ...files, "--at", "2026-12-01T03:00:00Z", "--output", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ command: "explain", verdict: { outcome: "trusted" } });
  });

  it("loads the Kubernetes SDK where it needs it, and says what is wrong with a kubeconfig", async () => {
    const kubeconfig = path.join(elsewhere, "kubeconfig");
    writeFileSync(kubeconfig, "apiVersion: v1\nkind: Config\n");
    const scan = run(fleetmend, ["scan", "--kubeconfig", kubeconfig]);
    await expect(scan).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/^fleetmend: /) as string });
  });

  it("brings JavaScript, the manifests and no dependency", () => {
    const installed = path.join(elsewhere, "node_modules", "fleetmend");
    expect(readdirSync(path.join(elsewhere, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "fleetmend",
    ]);
    expect(readdirSync(path.join(installed, "dist")).filter((name) => name.endsWith(".ts"))).toEqual([]);
    expect(readFileSync(path.join(installed, "infra", "kubernetes", "read.yaml"), "utf8")).toMatch(/ClusterRole/);
  });
});
