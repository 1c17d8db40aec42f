import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStage } from "../../src/lab/demo-cluster-stage.ts";
import { NotAsTold } from "../../src/lab/demo-page.ts";
import { startLab, type Lab } from "../../src/lab/start.ts";
import { processIo } from "../../src/cli/process-io.ts";

const root = path.join(import.meta.dirname, "../..");
const slow = 60_000; // A story of six commands, on a busy machine.

describe("npm run demo:cluster", () => {
  it(
    "tells the whole story within 80 plain columns, ends with 0 and leaves nothing behind",
    { timeout: slow },
    async () => {
      const temporary = mkdtempSync(path.join(tmpdir(), "fleetmend-demo-test-"));
      const env = { ...process.env, TMPDIR: temporary };
      // A failing exit code rejects. Nothing running may keep the process alive: it ends by itself, or the test times out.
      const { stdout, stderr } = await promisify(execFile)(process.execPath, ["src/lab/demo-cluster.ts"], {
        cwd: root,
        env,
      });
      const headings = stdout.match(/^── \d\. .*? ─/gm)?.map((line) => line.replaceAll(/^── \d\. | ─$/g, ""));
      expect(headings).toEqual([
        "All is well",
        "A helm upgrade goes wrong, and nobody notices",
        "The old connections end, and every pod is refused",
        "The plan, and the repair",
        "The proof",
      ]);
      const told = `${stdout}${stderr}`;
      expect(told.match(/^.{81,}$/gmu)).toBeNull();
      expect(told).not.toContain("\u001b");
      expect(readdirSync(temporary)).toEqual([]);
    },
  );
});

describe("the stage of the demo", () => {
  const silent = { write: () => undefined };
  const io = { ...processIo(), stdout: silent, stderr: silent };
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.stop());

  it("does not let a pod be admitted that the story has refused", async () => {
    const stage = createStage(lab, io);
    await expect(stage.createPod("admitted")).resolves.toBeUndefined();
    await expect(stage.createPod("refused")).rejects.toThrow(NotAsTold);
  });

  it("does not let a command end with another code than the story's", async () => {
    const stage = createStage(lab, io);
    await expect(stage.fleetmend("--version", 0)).resolves.toBeUndefined();
    await expect(stage.fleetmend("--version", 1)).rejects.toThrow(NotAsTold);
  });
});
