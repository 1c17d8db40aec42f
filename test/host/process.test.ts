// The local host as a process of its own, which is how an app gets NODE_EXTRA_CA_CERTS and HTTPS_PROXY.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import type { HostStarted } from "../../src/lab/functions-host/main.ts";
import { tinyApp } from "./tiny-app.ts";

const main = path.join(import.meta.dirname, "..", "..", "src", "lab", "functions-host", "main.ts");

function start(argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, [main, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
}

it("says in one line of JSON where it listens, takes its environment as settings, and ends with 0 at SIGTERM", async () => {
  const entry = 'app.http("ping", { handler: async () => ({ body: process.env.COLOUR }) });';
  const child = start([await tinyApp({ entry }), "--key", "of-the-demo"], { COLOUR: "red" });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const started = JSON.parse(line) as HostStarted;
  expect(started).toMatchObject({ functions: ["ping"], keys: { default: "of-the-demo" } });
  expect(await (await fetch(`${started.url}/api/ping`)).text()).toBe("red");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

it("ends with 1 and the reason where the app is refused", async () => {
  const child = start([await tinyApp({ entry: "" })]);
  let words = "";
  child.stderr.on("data", (data: Buffer) => (words += data.toString()));
  expect(await once(child, "close")).toEqual([1, null]);
  expect(words).toMatch(/^No job functions found/);
});
