// What Azure refuses, or runs none of without a word, the local host refuses with a reason.
import { describe, expect, it } from "vitest";
import { startFunctionsHost } from "../../src/lab/functions-host/start-functions-host.ts";
import { plainHostJson, tinyApp, type TinyApp } from "./tiny-app.ts";

const http = 'app.http("ping", { handler: async () => ({ body: "pong" }) });';
const queue = (options = "") =>
  `app.storageQueue("care", { queueName: "care", connection: "AzureWebJobsStorage", ${options} handler: async () => {} });`;
const timer = (schedule: string) => `app.timer("scan", { schedule: "${schedule}", handler: async () => {} });`;

const refused: readonly (TinyApp & { readonly rule: string; readonly words: RegExp })[] = [
  { rule: "a package.json without main", entry: http, packageJson: {}, words: /has no "main"/ },
  { rule: "a main that matches no file", entry: http, packageJson: { main: "lib/*.js" }, words: /Found zero files/ },
  { rule: "an app without a function", entry: "", words: /No job functions found/ },
  { rule: "an entry file that throws", entry: `throw new Error("no such module");${http}`, words: /no such module/ },
  {
    rule: "one name twice, in whatever case",
    entry: http + http.replace("ping", "PING"),
    words: /already been registered/,
  },
  { rule: "a name that is no function name", entry: http.replace("ping", "1ping"), words: /not a valid function name/ },
  { rule: "a folder without package.json", entry: http, packageJson: null, words: /package\.json .*cannot be read/ },
  {
    rule: "one route and method for two functions",
    entry: http + http.replace('"ping", {', '"pong", { route: "/PING/", methods: ["GET"],'),
    words: /pong: .*route .*function 'ping'/,
  },
  {
    rule: "a route that is the host's own",
    entry: http.replace("{", '{ route: "administration/ping",'),
    words: /ping: .*built in routes/,
  },
  {
    rule: "a retry policy on a queue trigger",
    entry: queue('retry: { strategy: "fixedDelay", maxRetryCount: 1, delayInterval: 1 },'),
    words: /retry policy on a queue/,
  },
  {
    rule: "a queue name in capitals",
    entry: queue().replace('queueName: "care"', 'queueName: "Care"'),
    words: /not a valid queue name/,
  },
  { rule: "a setting that is not there", entry: timer("%SCAN_SCHEDULE%"), words: /'%SCAN_SCHEDULE%' does not resolve/ },
  { rule: "a schedule of five fields", entry: timer("*/5 * * * *"), words: /six fields/ },
  { rule: "a schedule with a sign that NCRONTAB does not know", entry: timer("0 0 0 L * *"), words: /NCRONTAB/ },
  { rule: "a schedule with minute 61", entry: timer("0 61 * * * *"), words: /NCRONTAB/ },
  {
    rule: "a trigger that it does not run",
    entry: 'app.warmup("warm", { handler: async () => {} });',
    words: /warmupTrigger/,
  },
  {
    rule: "an unknown key in host.json",
    entry: http,
    hostJson: { ...plainHostJson, functionTimeOut: "00:05:00" },
    words: /functionTimeOut/,
  },
  {
    rule: "an unknown key below extensions.queues",
    entry: http,
    hostJson: { ...plainHostJson, extensions: { queues: { batchsize: 1 } } },
    words: /batchsize/,
  },
  {
    rule: "an unknown key below logging",
    entry: http,
    hostJson: { ...plainHostJson, logging: { applicationInsights: { samplingSetting: { isEnabled: false } } } },
    words: /samplingSetting/,
  },
  {
    rule: "dynamic concurrency, which sets the queues' numbers aside",
    entry: http,
    hostJson: { ...plainHostJson, concurrency: { dynamicConcurrencyEnabled: true } },
    words: /dynamicConcurrencyEnabled/,
  },
  {
    rule: "a batch of 33",
    entry: http,
    hostJson: { ...plainHostJson, extensions: { queues: { batchSize: 33 } } },
    words: /batchSize/,
  },
  {
    rule: "a queue trigger without an extension bundle",
    entry: queue(),
    hostJson: { version: "2.0" },
    words: /extensionBundle/,
  },
];

describe("the local host refuses", () => {
  it.each(refused)("$rule", async ({ words, ...app }) => {
    const appFolder = await tinyApp(app);
    await expect(startFunctionsHost({ appFolder, settings: {} })).rejects.toThrow(words);
  });

  it("a registration after the start", async () => {
    const late = `
      globalThis.late = new Promise((resolve) => setTimeout(() => {
        try { resolve(app.http("late", { handler() {} })); } catch (error) { resolve(error); }
      }, 1));`;
    const host = await startFunctionsHost({ appFolder: await tinyApp({ entry: http + late }), settings: {} });
    const answer = await (globalThis as { late?: Promise<unknown> }).late;
    await host.stop();
    expect(String(answer)).toMatch(/only be registered during app startup/);
    expect(host.functions.map(({ name }) => name)).toEqual(["ping"]);
  });

  it("nothing that is in order, and leaves no trace of it", async () => {
    const entry = `app.http("ping", { handler: async () => ({ body: process.env.COLOUR }) });`;
    const appFolder = await tinyApp({ entry });
    for (const colour of ["red", "blue"]) {
      const host = await startFunctionsHost({ appFolder, settings: { COLOUR: colour } });
      expect(await (await fetch(`${host.url}/api/ping`)).text()).toBe(colour);
      expect(await host.stop()).toBe(0);
    }
    expect(process.env.COLOUR).toBeUndefined();
  });
});
