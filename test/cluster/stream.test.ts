// Pods are created without pause while a latent drift of family A is repaired by the command line: none is refused. The
// drift hides behind the API server's kept-alive connections, and every connection that is made from then on ends after one
// request, so that no later create can hide behind an earlier handshake.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { probePod } from "./admission-watch.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { inject, type FaultName } from "./faults.ts";
import { installFamily, probeNamespace, uninstall } from "./kai/install.ts";
import type { World } from "./world.ts";

let world: World;
let proxy: FaultProxy;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "fleetmend-stream-"));
  world = await openClusterUnderTest({ mountRefreshMs: 100 });
  proxy = await startFaultProxy(world.plane);
});

afterEach(async () => {
  proxy.restart();
  await uninstall(world);
});

afterAll(async () => {
  await proxy.stop();
  await world.stop();
  rmSync(folder, { recursive: true });
});

interface Create {
  readonly at: number;
  readonly admitted: boolean;
}

/** Dry-run creates one after the other until stopped, each with its answer and the time at which it was sent. */
function streamCreates(): { readonly creates: readonly Create[]; stop(): Promise<void> } {
  const creates: Create[] = [];
  let isRunning = true;
  const run = async (): Promise<void> => {
    while (isRunning) {
      const at = Date.now();
      const call = { body: probePod, query: { dryRun: "All" } };
      const answer = await world.admin.request("POST", `/api/v1/namespaces/${probeNamespace}/pods`, call);
      creates.push({ at, admitted: answer.status === 201 });
    }
  };
  const running = run();
  return {
    creates,
    stop: async () => {
      isRunning = false;
      await running;
    },
  };
}

interface CliRun {
  readonly code: number | null;
  readonly document: { readonly probe?: { readonly hooks: readonly { readonly result: string }[] } };
  readonly errors: string;
}

const root = path.join(import.meta.dirname, "..", "..");

function fleetmend(...words: readonly string[]): Promise<CliRun> {
  const child = spawn(process.execPath, [path.join(root, "src", "cli", "main.ts"), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const text = Buffer.concat(output).toString("utf8");
      const document = text === "" ? {} : (JSON.parse(text) as CliRun["document"]);
      resolve({ code, document, errors: Buffer.concat(errors).toString("utf8") });
    });
  });
}

/** Repairs under the stream, and says how it went and when the bundles were written. */
async function repairUnderStream(fault: FaultName): Promise<{
  readonly cli: CliRun;
  readonly creates: readonly Create[];
  readonly writes: readonly number[];
  readonly faultToProofMs: number;
}> {
  const installed = await installFamily(world, "A");
  const stream = streamCreates();
  const writes: number[] = [];
  proxy.onRequest = ({ method, path: url }) => {
    if (method === "PATCH" && url.includes("webhookconfigurations")) writes.push(Date.now());
    return { do: "pass" };
  };
  const kubeconfig = proxy.kubeconfig(path.join(folder, fault), "repair");
  await inject(installed, fault);
  const brokenAt = Date.now();
  world.admission.newConnectionsServeOnce = true;
  const cli = await fleetmend("repair", "--yes", "--kubeconfig", kubeconfig, "--output", "json");
  const faultToProofMs = Date.now() - brokenAt;
  await stream.stop();
  return { cli, creates: stream.creates, writes, faultToProofMs };
}

describe("a stream of pod creates during a repair", () => {
  it("loses none while a latent drift is repaired", { timeout: 120_000 }, async () => {
    const { cli, creates, writes, faultToProofMs } = await repairUnderStream("latent-drift");
    proxy.assertNothingForbidden();
    const [first = Infinity, last = Infinity] = writes;
    const during = creates.filter(({ at }) => at >= first);
    const handshakes = world.admission.calls.filter((call) => !call.reusedConnection).length;
    console.log(
      `latent drift: ${creates.length} creates, ${during.length} from the first step on, ` +
        `${creates.filter(({ admitted }) => !admitted).length} refused; ${handshakes} calls over a connection of their own; ` +
        `from fault to proof ${(faultToProofMs / 1000).toFixed(1)} s (of it ${last - first} ms between the two writes)`,
    );
    expect(writes).toHaveLength(2);
    expect(cli, cli.errors).toMatchObject({ code: 0 });
    expect(cli.document.probe?.hooks.map(({ result }) => result)).toEqual(["proven", "proven"]);
    expect(creates.filter(({ admitted }) => !admitted)).toEqual([]);
    expect(during.length).toBeGreaterThan(10);
    expect(handshakes).toBeGreaterThan(10);
  });

  it(
    "refuses until both holders are written where the drift bites already, and none after",
    { timeout: 120_000 },
    async () => {
      const { cli, creates, writes, faultToProofMs } = await repairUnderStream("drift");
      const last = Math.max(...writes);
      const refusedAfter = creates.filter(({ at, admitted }) => at > last + settleMs && !admitted);
      console.log(
        `drift: ${creates.filter(({ admitted }) => !admitted).length} of ${creates.length} creates refused, ` +
          `${refusedAfter.length} after the last step; from fault to proof ${(faultToProofMs / 1000).toFixed(1)} s`,
      );
      expect(cli, cli.errors).toMatchObject({ code: 0 });
      expect(refusedAfter).toEqual([]);
      expect(creates.filter(({ at, admitted }) => at > last + settleMs && admitted).length).toBeGreaterThan(10);
    },
  );
});

// The API server learns of a changed configuration by its own watch, some milliseconds after it has answered the write.
const settleMs = 250;
