// Each kind of trigger through the local host: the real @azure/functions library, real HTTP, and queues in Azurite.
import { once } from "node:events";
import { connect } from "node:net";
import { type QueueClient, QueueServiceClient } from "@azure/storage-queue";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startAzurite, type Azurite } from "../../src/lab/azurite.ts";
import type { LogLine } from "../../src/lab/functions-host/log-line.ts";
import { type Host, type HostOptions, startFunctionsHost } from "../../src/lab/functions-host/start-functions-host.ts";
import { tinyApp } from "./tiny-app.ts";

// What the handlers saw, in order; `expect` by waiting for the next.
const entry = `
  const seen = globalThis.seen;
  const done = output.storageQueue({ queueName: "done", connection: "AzureWebJobsStorage" });
  app.hook.preInvocation(({ invocationContext }) => { seen.hook?.(invocationContext.functionName); });
  app.http("report", { methods: ["GET", "POST"], authLevel: "function", route: "clusters/{cluster}", handler: async (request, context) => ({
    status: 202, headers: { location: "/somewhere" },
    jsonBody: { cluster: request.params.cluster, wait: request.query.get("wait"), body: await request.text(), trace: context.traceContext.traceParent } }) });
  app.http("health", { methods: ["GET"], authLevel: "anonymous", handler: async () => ({ jsonBody: { status: "alive" } }) });
  app.http("broken", { methods: ["GET"], authLevel: "anonymous", handler: async () => { throw new Error("no") } });
  app.timer("scan", { schedule: "%SCHEDULE%", handler: async (timer, context) => { context.log("tick"); await seen("scan", timer) } });
  app.storageQueue("care", { queueName: "care", connection: "AzureWebJobsStorage", extraOutputs: [done],
    handler: async (message, context) => {
      await seen("care", { message, dequeueCount: context.triggerMetadata.dequeueCount });
      if (message.fails) throw new Error("once more");
      context.extraOutputs.set(done, [{ of: message.name }, { of: "second" }]);
    } });
  app.storageQueue("carePoison", { queueName: "care-poison", connection: "AzureWebJobsStorage", handler: async (message) => { await seen("poison", message) } });
  app.eventGrid("changed", { handler: async (event) => { await seen("changed", event); if (event.fails) throw new Error("no") } });
`;

interface Seen {
  readonly what: string;
  readonly value: unknown;
}

let azurite: Azurite;
let host: Host | undefined;
let lines: LogLine[] = [];
let seen: Seen[] = [];
let waiting: (() => void)[] = [];

beforeAll(async () => {
  azurite = await startAzurite();
}, 60_000);
afterAll(() => azurite.stop());
afterEach(async () => {
  await host?.stop();
  host = undefined;
});

async function start(options: Partial<HostOptions> = {}): Promise<Host> {
  lines = [];
  seen = [];
  waiting = [];
  (globalThis as { seen?: unknown }).seen = (what: string, value: unknown) => {
    seen.push({ what, value });
    for (const wake of waiting.splice(0)) wake();
  };
  host = await startFunctionsHost({
    appFolder: await tinyApp({ entry }),
    settings: { SCHEDULE: "0 0 4 1 1 *" },
    azuriteConnectionString: azurite.connectionString,
    maxPollingIntervalMs: 100,
    log: (line) => lines.push(line),
    ...options,
  });
  return host;
}

/** Waits until so many of `what` were seen, and answers them. */
async function until(what: string, count: number): Promise<readonly unknown[]> {
  for (;;) {
    const found = seen.filter((one) => one.what === what);
    if (found.length >= count) return found.map(({ value }) => value);
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
}

async function queue(name: string): Promise<QueueClient> {
  const client = QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient(name);
  await client.createIfNotExists();
  return client;
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

describe("HTTP", () => {
  it("asks a function's key, in the header or the query, and answers 401 without it", async () => {
    const { url, keys } = await start();
    const report = `${url}/api/clusters/aks-1`;
    const statuses = await Promise.all([
      fetch(report),
      fetch(`${report}?code=wrong`),
      fetch(report, { headers: { "x-functions-key": keys.default } }),
      fetch(`${report}?code=${keys.master}`),
      fetch(`${url}/api/health`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 202, 202, 200]);
  });

  it("hands over route parameters, query, body and trace, and answers what the handler returned", async () => {
    const { url, keys } = await start();
    const response = await fetch(`${url}/api/clusters/rg%3Aaks-1?wait=5&code=${keys.default}`, {
      method: "POST",
      body: "hello",
      headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    });
    expect(response.headers.get("location")).toBe("/somewhere");
    expect(await response.json()).toEqual({
      cluster: "rg:aks-1",
      wait: "5",
      body: "hello",
      trace: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/) as string,
    });
  });

  it("joins what the query gives twice, as the host does", async () => {
    const { url, keys } = await start();
    const response = await fetch(`${url}/api/clusters/aks-1?wait=5&wait=6&code=${keys.default}`);
    expect(await response.json()).toMatchObject({ wait: "5,6" });
  });

  it("reads a path's escapes before it looks for the function, a slash's excepted", async () => {
    const { url, keys } = await start();
    const headers = { "x-functions-key": keys.default };
    expect((await fetch(`${url}/api/%68ealth`)).status).toBe(200);
    const report = await fetch(`${url}/api/clusters/aks%2F1%20x%E4%B8`, { headers });
    expect(await report.json()).toMatchObject({ cluster: "aks%2F1 x%E4%B8" });
  });

  it("answers 400 to a Host that is none, and 404 to a name that cannot be read", async () => {
    const { url, keys } = await start();
    expect(await statusLine(url, "GET /api/health HTTP/1.1\r\nHost: a b\r\n")).toMatch(/ 400 /);
    const headers = { "x-functions-key": keys.master, "content-type": "application/json" };
    const run = await fetch(`${url}/admin/functions/%E0%A4%A`, { method: "POST", headers, body: "{}" });
    expect(run.status).toBe(404);
  });

  it("answers 500 where the handler throws, and 404 for another path or method", async () => {
    const { url } = await start();
    const statuses = await Promise.all([
      fetch(`${url}/api/broken`),
      fetch(`${url}/api/nothing`),
      fetch(`${url}/api/health`, { method: "DELETE" }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([500, 404, 404]);
    expect(lines).toContainEqual(expect.objectContaining({ level: "error", function: "broken" }));
  });
});

/** What fetch would not send. */
async function statusLine(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.end(`${head}Connection: close\r\n\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return chunk.toString().split("\r\n")[0] ?? "";
}

describe("a timer", () => {
  it("gets the schedule's status as the host keeps it, with its setting resolved", async () => {
    const running = await start();
    await running.fireTimer("scan");
    await running.fireTimer("scan", { isPastDue: true });
    const year = new Date().getUTCFullYear() + 1;
    expect(await until("scan", 2)).toEqual([
      {
        isPastDue: false,
        schedule: { adjustForDST: true },
        scheduleStatus: {
          last: "0001-01-01T00:00:00+00:00",
          next: `${year}-01-01T04:00:00.000Z`,
          lastUpdated: "0001-01-01T00:00:00+00:00",
        },
      },
      expect.objectContaining({
        isPastDue: true,
        scheduleStatus: expect.objectContaining({ next: `${year + 1}-01-01T04:00:00.000Z` }) as object,
      }),
    ]);
    expect(running.functions.find(({ name }) => name === "scan")?.trigger).toMatchObject({ schedule: "0 0 4 1 1 *" });
    expect(lines).toContainEqual(expect.objectContaining({ category: "user", function: "scan", message: "tick" }));
  });

  it("runs by hand at the host's own address, with the master key only, and keeps its next time", async () => {
    const { url, keys } = await start();
    const run = (name: string, key: string, body = "{}") => {
      const headers = { "x-functions-key": key, "content-type": "application/json" };
      return fetch(`${url}/admin/functions/${name}`, { method: "POST", headers, body });
    };
    expect((await run("scan", keys.master, "")).status).toBe(400);
    expect((await run("scan", keys.default)).status).toBe(401);
    expect((await run("care", keys.master)).status).toBe(404);
    expect((await run("scan", keys.master)).status).toBe(202);
    expect((await run("scan", keys.master)).status).toBe(202);
    const next = `${new Date().getUTCFullYear() + 1}-01-01T04:00:00.000Z`;
    const ofSchedule = { scheduleStatus: { next } };
    expect(await until("scan", 2)).toMatchObject([ofSchedule, ofSchedule]);
  });

  it("is tried again as its retry policy says, and told so", async () => {
    await start({
      settings: { SCHEDULE: "* * * * * *" },
      appFolder: await tinyApp({
        entry: `app.timer("scan", { schedule: "%SCHEDULE%",
          retry: { strategy: "fixedDelay", maxRetryCount: 1, delayInterval: { seconds: 1 } },
          handler: async (timer, { retryContext }) => { await globalThis.seen("scan", retryContext); throw new Error("no"); } });`,
      }),
    });
    expect(await until("scan", 3)).toMatchObject([
      { retryCount: 0, maxRetryCount: 1 },
      { retryCount: 1, exception: { message: "no" } },
      { retryCount: 0 },
    ]);
  });

  it("has no status where it runs more often than once a minute", async () => {
    const running = await start({ settings: { SCHEDULE: "*/30 * * * * *" } });
    await running.fireTimer("scan");
    expect(await until("scan", 1)).toEqual([
      { isPastDue: false, schedule: { adjustForDST: true }, scheduleStatus: null },
    ]);
  });

  it("that a setting disables runs only by hand", async () => {
    const settings = { SCHEDULE: "* * * * * *", "AzureWebJobs.scan.Disabled": "true" };
    const { url, keys, functions } = await start({ settings });
    expect(functions.map(({ name }) => name)).toContain("scan");
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(seen).toEqual([]);
    const headers = { "x-functions-key": keys.master, "content-type": "application/json" };
    const run = await fetch(`${url}/admin/functions/scan`, { method: "POST", headers, body: "{}" });
    expect(run.status).toBe(202);
    expect(await until("scan", 1)).toHaveLength(1);
  });

  it("fires by itself when its time has come", async () => {
    await start({ settings: { SCHEDULE: "* * * * * *" } });
    expect(await until("scan", 1)).toHaveLength(1);
  });
});

describe("a queue", () => {
  it("hands over a message with its dequeue count as a number, deletes it, and writes the outputs", async () => {
    const care = await queue("care");
    const done = await queue("done");
    await start();
    await care.sendMessage(base64({ name: "aks-1" }));
    expect(await until("care", 1)).toEqual([{ message: { name: "aks-1" }, dequeueCount: 1 }]);
    await host?.stop();
    host = undefined;
    expect((await care.getProperties()).approximateMessagesCount).toBe(0);
    const { receivedMessageItems } = await done.receiveMessages({ numberOfMessages: 8 });
    const texts = receivedMessageItems.map(({ messageText }) => Buffer.from(messageText, "base64").toString());
    expect(texts).toEqual(['{"of":"aks-1"}', '{"of":"second"}']);
  });

  it("delivers a failure again, and moves it to the poison queue after maxDequeueCount", async () => {
    const care = await queue("care");
    await start();
    await care.sendMessage(base64({ fails: true }));
    expect(await until("poison", 1)).toEqual([{ fails: true }]);
    expect(await until("care", 2)).toMatchObject([{ dequeueCount: 1 }, { dequeueCount: 2 }]);
  });

  it("moves a message that is not base64 straight to the poison queue", async () => {
    const care = await queue("care");
    const poison = await queue("care-poison");
    await start({ only: ["care"] });
    await care.sendMessage('{"name":"plain"}');
    const { peekedMessageItems } = await peekUntilThere(poison);
    expect(peekedMessageItems.map(({ messageText }) => messageText)).toEqual(['{"name":"plain"}']);
    expect(seen).toEqual([]);
    await poison.clearMessages();
  });
});

async function peekUntilThere(client: QueueClient) {
  for (;;) {
    const peeked = await client.peekMessages();
    if (peeked.peekedMessageItems.length > 0) return peeked;
  }
}

describe("Event Grid", () => {
  const webhook = ({ url, keys }: Host, name = "changed") =>
    `${url}/runtime/webhooks/eventgrid?functionName=${name}&code=${keys.eventGrid}`;
  const post = (url: string, body: unknown, type: Record<string, string> = {}) =>
    fetch(url, { method: "POST", body: JSON.stringify(body), headers: type });

  it("answers both handshakes", async () => {
    const running = await start();
    const validated = await post(webhook(running), [{ data: { validationCode: "512d38b6" } }], {
      "aeg-event-type": "SubscriptionValidation",
    });
    expect(await validated.json()).toEqual({ validationResponse: "512d38b6" });
    const headers = { "webhook-request-origin": "eventgrid.azure.net" };
    const options = await fetch(webhook(running), { method: "OPTIONS", headers });
    expect(options.headers.get("webhook-allowed-origin")).toBe("eventgrid.azure.net");
  });

  it("gives each event to an invocation of its own, in either schema", async () => {
    const running = await start();
    const notification = { "aeg-event-type": "Notification" };
    const answers = [
      await post(webhook(running), [{ eventType: "a" }, { eventType: "b" }], notification),
      await post(webhook(running), { specversion: "1.0", type: "c" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(await until("changed", 3)).toEqual([
      { eventType: "a" },
      { eventType: "b" },
      { specversion: "1.0", type: "c" },
    ]);
  });

  it("answers 500 where the function fails, 404 for another function, and 401 without the key", async () => {
    const running = await start();
    const statuses = await Promise.all([
      post(webhook(running), [{ fails: true }]),
      post(webhook(running, "scan"), [{}]),
      post(`${running.url}/runtime/webhooks/eventgrid?functionName=changed`, [{}]),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([500, 404, 401]);
  });
});

describe("stopping", () => {
  it("waits for what is running, within its bound, and says how much it left behind", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    (globalThis as { held?: unknown }).held = held;
    const slow = await startFunctionsHost({
      appFolder: await tinyApp({
        entry: 'app.timer("slow", { schedule: "0 0 4 1 1 *", handler: () => globalThis.held });',
      }),
      settings: {},
      graceMs: 1,
    });
    const run = slow.fireTimer("slow");
    expect(await slow.stop()).toBe(1);
    release();
    await run;
  });
});
