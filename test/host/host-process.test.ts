// The local host as a child process: started, stopped, killed.
import { expect, it } from "vitest";
import { startHostProcess } from "../../src/lab/functions-host/start-host-process.ts";
import { AppRefused } from "../../src/lab/functions-host/refusal.ts";
import { tinyApp } from "./tiny-app.ts";

const entry = 'app.http("ping", { handler: async () => ({ body: JSON.stringify(process.env) }) });';

it("gives the app the environment that it is given, and no other", async () => {
  const host = await startHostProcess({ appFolder: await tinyApp({ entry }), environment: { COLOUR: "red" } });
  const seen = (await (await fetch(`${host.url}/api/ping`)).json()) as Record<string, string>;
  expect(seen).toMatchObject({ COLOUR: "red" });
  expect(seen).not.toHaveProperty("PATH");
  await host.stop();
  expect(await host.ended).toBe(0);
});

it("can be killed in the middle of what it does", async () => {
  const host = await startHostProcess({ appFolder: await tinyApp({ entry }), environment: {} });
  await host.kill();
  expect(await host.ended).toBe(128);
  await expect(fetch(host.url)).rejects.toThrow();
});

it("says why the app is refused", async () => {
  const starting = startHostProcess({ appFolder: await tinyApp({ entry: "" }), environment: {} });
  await expect(starting).rejects.toThrow(AppRefused);
  await expect(starting).rejects.toThrow(/No job functions found/);
});

it("ends where the port is taken, and says so", async () => {
  const timer = 'app.timer("scan", { schedule: "0 0 4 1 1 *", handler: async () => {} });';
  const appFolder = await tinyApp({ entry: entry + timer });
  const other = await startHostProcess({ appFolder, environment: {} });
  const port = Number(new URL(other.url).port);
  await expect(startHostProcess({ appFolder, environment: {}, port })).rejects.toThrow(`The port ${port} is taken`);
  await other.stop();
});
