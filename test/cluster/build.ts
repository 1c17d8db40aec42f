// Builds the binaries of the control plane from Go modules, once per version, into a folder that git ignores. Nothing is
// downloaded but Go modules, and nothing here starts what it builds.
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

const module_ = path.join(import.meta.dirname, "controlplane");
const root = path.join(import.meta.dirname, "..", "..");

export interface Binaries {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  /** The port-forward half of a kubelet; see controlplane/kubelet/main.go. */
  readonly kubelet: string;
}

/** Go is missing or does not work: the message says what to install. */
export class GoMissing extends Error {}

const packages: Record<keyof Binaries, string> = {
  etcd: "go.etcd.io/etcd/server/v3",
  apiServer: "k8s.io/kubernetes/cmd/kube-apiserver",
  controllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
  kubelet: "./kubelet",
};

/**
 * The paths of the binaries; builds what is missing and says so line by line through `progress`. The folder is
 * `.cache/controlplane` in the repository, or what FLEETMEND_CONTROLPLANE_CACHE names, so that several clones share it.
 * Cold this takes about eight minutes on two cores and 7 GB of Go's build cache; with that cache warm, seconds.
 * Throws {@link GoMissing} where there is no Go, and an Error where `go build` fails.
 */
export function buildControlPlane(progress: (line: string) => void): Binaries {
  const version = goVersion();
  const cache = process.env.FLEETMEND_CONTROLPLANE_CACHE ?? path.join(root, ".cache", "controlplane");
  const folder = path.join(cache, keyOf(version));
  if (!existsSync(folder)) {
    progress(
      `building etcd, kube-apiserver, kube-controller-manager and a kubelet with ${version}, once, into ${folder}`,
    );
    progress("(about 8 minutes on two cores if Go has not built them before)");
    buildInto(folder, progress);
  }
  return binariesIn(folder);
}

const binariesIn = (folder: string): Binaries => ({
  etcd: path.join(folder, "etcd"),
  apiServer: path.join(folder, "apiServer"),
  controllerManager: path.join(folder, "controllerManager"),
  kubelet: path.join(folder, "kubelet"),
});

/** What `go version` says inside the module, so that a toolchain line of go.mod counts too. */
function goVersion(): string {
  const asked = spawnSync("go", ["env", "GOVERSION"], { cwd: module_, encoding: "utf8" });
  if (asked.status === 0) return asked.stdout.trim();
  throw new GoMissing(
    "The real control plane is built with Go, and there is no working `go` on the PATH" +
      (asked.stderr ? ` (${asked.stderr.trim()})` : "") +
      ". Install Go 1.26 or later (https://go.dev/dl) and run the command again. `npm test` and `npm run demo` do not need it.",
  );
}

function keyOf(goVersion: string): string {
  const hash = createHash("sha256").update(goVersion);
  for (const name of ["go.mod", "go.sum", "kubelet/main.go"]) hash.update(readFileSync(path.join(module_, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Builds beside the folder and renames at the end: a broken-off or a second build leaves no half folder behind. */
function buildInto(folder: string, progress: (line: string) => void): void {
  const unfinished = `${folder}.building-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    for (const [name, source] of Object.entries(packages)) {
      const started = Date.now();
      progress(`  go build ${source}`);
      buildOne(source, path.join(unfinished, name));
      progress(`  done in ${Math.round((Date.now() - started) / 1000)} s`);
    }
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function buildOne(source: string, output: string): void {
  const version = kubernetesVersion();
  const [major = "", minor = ""] = version.split(".");
  // Without these a server calls itself v0.0.0-master, and clients that look at /version are misled.
  const stamp = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(stamp).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const built = spawnSync(
    "go",
    ["build", "-buildvcs=false", "-trimpath", "-ldflags", ["-s", "-w", ...flags].join(" "), "-o", output, source],
    { cwd: module_, env: { ...process.env, CGO_ENABLED: "0" }, stdio: ["ignore", "inherit", "inherit"] },
  );
  if (built.status !== 0)
    throw new Error(`go build ${source} failed (see above); the Go module proxy must be reachable`);
}

function kubernetesVersion(): string {
  const required = /^\s*(?:require )?k8s\.io\/kubernetes v(\S+)/m.exec(
    readFileSync(path.join(module_, "go.mod"), "utf8"),
  );
  if (required?.[1] === undefined) throw new Error("controlplane/go.mod requires no k8s.io/kubernetes");
  return required[1];
}
