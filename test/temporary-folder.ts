// Runs around all tests: whatever they put into the system's temporary folder goes into one of this run's own, which is
// removed at the end, so that no test can leave anything behind.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export default function setUp(): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-run-"));
  // What os.tmpdir() reads, here and in the workers and processes that inherit our environment.
  process.env.TMPDIR = folder;
  // The Azure SDKs read it once, when a process first makes a client: Azurite is never behind the lab's proxy.
  process.env.NO_PROXY = "127.0.0.1,localhost";
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
