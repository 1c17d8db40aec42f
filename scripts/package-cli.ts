// `npm run package:cli`: out/cli (the package's content) and out/fleetmend-<version>.tgz, to install with
// `npm install --global out/fleetmend-<version>.tgz`.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { writeCliPackage } from "./package/bundle-cli.ts";

const out = path.join(import.meta.dirname, "..", "out");
const folder = path.join(out, "cli");

await writeCliPackage(folder);
const packed = execFileSync("npm", ["pack", "--pack-destination", out, "--silent"], { cwd: folder, encoding: "utf8" });
process.stdout.write(`${path.relative(process.cwd(), path.join(out, packed.trim()))}\n`);
