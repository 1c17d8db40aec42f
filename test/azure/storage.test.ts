import { createServer } from "node:http";
import { QueueClient } from "@azure/storage-queue";
import { TableClient } from "@azure/data-tables";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCareQueue, queueText } from "../../src/azure/care-queue.ts";
import { isLocalEmulator } from "../../src/azure/storage-account.ts";
import { openTable } from "../../src/azure/storage-table.ts";
import type { CareMessage } from "../../src/fleet/care-message.ts";
import { StoreError } from "../../src/fleet/table.ts";
import { startAzurite, type Azurite } from "../../src/lab/azurite.ts";
import { listen } from "../../src/lab/listen.ts";
import { describeTable } from "../fleet/table-contract.ts";

let azurite: Azurite;
beforeAll(async () => {
  azurite = await startAzurite();
});
afterAll(() => azurite.stop());

const table = (name: string) => openTable(azurite, name);
const key = { partition: "budget", row: "fleet" };

describeTable("Azure Table storage", () => table("contract"));

describe("a table", () => {
  it("is created by the first write, and reads as empty before it", async () => {
    const fresh = await table("fresh");
    expect(await fresh.get(key)).toBeUndefined();
    expect(await fresh.list("budget")).toEqual([]);
    expect(await fresh.replace({ ...key, value: 1, etag: 'W/"1"' }, 2)).toBeUndefined();
    expect(await fresh.remove({ ...key, value: 1, etag: 'W/"1"' })).toBe(true);
    expect((await fresh.insert(key, 1))?.value).toBe(1);
  });

  it("takes one of the writers that create it together", async () => {
    const rows = await Promise.all(
      Array.from({ length: 5 }, async (_, n) => (await table("together")).insert(key, { n })),
    );
    expect(rows.filter((row) => row !== undefined)).toHaveLength(1);
  });

  it("keeps a value of 400,000 characters whole, whatever is at the seams", async () => {
    const rows = await table("long");
    const value = ["x".repeat(29_990), "𝄞".repeat(20_000), "ü".repeat(20_000), "\ud834", "\u0000\u007f\u0080", '\\"'];
    await rows.insert(key, value);
    // Compared as a boolean: the difference would be printed.
    expect(JSON.stringify((await rows.get(key))?.value) === JSON.stringify(value)).toBe(true);
  });

  it("refuses a value that does not fit into a row, and says so", async () => {
    await expect((await table("large")).insert(key, "x".repeat(450_000))).rejects.toThrow(
      "a table row holds 450,000 characters of JSON at most, and this value has 450,002",
    );
  });

  it("lists more rows than fit on one page, in order", async () => {
    const rows = await table("pages");
    await rows.insert({ partition: "p", row: "first" }, 0);
    const client = TableClient.fromConnectionString(azurite.connectionString, "pages", {
      allowInsecureConnection: true,
    });
    const names = Array.from({ length: 1100 }, (_, n) => `r${n.toString().padStart(4, "0")}`);
    for (let from = 0; from < names.length; from += 100) {
      await client.submitTransaction(
        names
          .slice(from, from + 100)
          .map((name) => ["create", { partitionKey: "p", rowKey: name, written: "x", value0: "1" }]),
      );
    }
    expect((await rows.list("p")).map(({ row }) => row)).toEqual(["first", ...names]);
    expect((await rows.list("p", { after: "r1000", limit: 2 })).map(({ row }) => row)).toEqual(["r1001", "r1002"]);
  });

  // What a lost answer looks like: the first attempt is done, and its answer is never seen.
  it("knows its own write again where the answer was lost and the SDK has written twice", async () => {
    const behind = /TableEndpoint=([^;]+)/.exec(azurite.connectionString)?.[1] ?? "";
    const lost: string[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
        const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
          typeof value === "string" && !["host", "connection", "content-length"].includes(name) ? [[name, value]] : [],
        );
        const url = new URL(request.url ?? "", behind);
        void fetch(url, { method: request.method ?? "", headers, ...body }).then(async (answer) => {
          const method = request.method ?? "";
          if (["POST", "PUT"].includes(method) && answer.ok && !lost.includes(method)) {
            lost.push(method);
            response.writeHead(500).end();
            return;
          }
          const answered = Buffer.from(await answer.arrayBuffer());
          const etag = answer.headers.get("etag");
          response.writeHead(answer.status, {
            "content-type": answer.headers.get("content-type") ?? "application/json",
            ...(etag !== null && { etag }),
          });
          response.end(answered);
        });
      });
    });
    const listening = await listen(server);
    await (await table("lost")).insert({ partition: "p", row: "creates-the-table" }, 0);
    const front = new URL(behind);
    front.port = listening.port.toString();
    const connectionString = azurite.connectionString.replace(behind, front.href);
    const rows = await openTable({ connectionString }, "lost");
    const first = await rows.insert(key, { n: 1 });
    if (first === undefined) throw new Error("the insert was taken for another's");
    expect((await rows.replace(first, { n: 2 }))?.value).toEqual({ n: 2 });
    expect(lost).toEqual(["POST", "PUT"]);
    await listening.stop();
  });
});

describe("the store's own failures", () => {
  const wrongKey = () => azurite.connectionString.replace(/AccountKey=[^;]+/, "AccountKey=d3Jvbmc=");

  it("are StoreErrors that name status and code, and no secret", async () => {
    const rows = await openTable({ connectionString: wrongKey() }, "rows");
    const thrown: unknown = await rows.get(key).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(StoreError);
    expect(String(thrown)).toContain("403");
    expect(JSON.stringify([String(thrown), thrown])).not.toMatch(/d3Jvbmc|SharedKey|sig=/i);
    expect((thrown as Error).cause).toBeUndefined();
    const queue = await openCareQueue({ connectionString: wrongKey() });
    await expect(queue.send(message())).rejects.toThrow(StoreError);
  });

  it("are StoreErrors where nobody listens", async () => {
    const server = await listen(createServer());
    await server.stop();
    const nowhere = `http://127.0.0.1:${server.port}/a`;
    const connectionString = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=d3Jvbmc=;TableEndpoint=${nowhere}`;
    const rows = await openTable({ connectionString }, "rows");
    await expect(rows.get(key)).rejects.toThrow("Storage could not be asked (ECONNREFUSED): get rows/budget/fleet.");
  });

  it("are plain errors where the setting is no connection string, without its value", async () => {
    const wrong = { connectionString: "AccountKey=d3Jvbmc=;oops" };
    const message = "AzureWebJobsStorage is not a connection string of a storage account.";
    await expect(openTable(wrong, "rows")).rejects.toThrow(message);
    await expect(openCareQueue(wrong)).rejects.toThrow(message);
  });

  it("are not for a connection without TLS that leaves the machine: the SDK refuses it before it sends", async () => {
    const connectionString =
      "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=d3Jvbmc=;TableEndpoint=http://storage.example/a";
    const rows = await openTable({ connectionString }, "rows");
    await expect(rows.get(key)).rejects.toThrow();
    expect(isLocalEmulator(connectionString)).toBe(false);
    expect(isLocalEmulator("UseDevelopmentStorage=true")).toBe(true);
    expect(isLocalEmulator(azurite.connectionString)).toBe(true);
  });
});

function message(): CareMessage {
  return {
    version: 1,
    cluster: "/subscriptions/s/c",
    reason: "timer",
    pass: "due",
    run: "r-1",
    attempt: 0,
    deferrals: 0,
  };
}

describe("the care queue", () => {
  const received = async (name: string) => {
    const { receivedMessageItems } = await new QueueClient(azurite.connectionString, name).receiveMessages();
    return receivedMessageItems;
  };

  it("is created by the first message, which is JSON in base64", async () => {
    await (await openCareQueue(azurite, "created")).send(message());
    const [item] = await received("created");
    expect(JSON.parse(Buffer.from(item?.messageText ?? "", "base64").toString("utf8"))).toEqual(message());
  });

  it("hides a delayed message, for seven days at the most", async () => {
    const queue = await openCareQueue(azurite, "delayed");
    await queue.send(message(), { delaySeconds: 604_800 });
    await queue.send(message(), { delaySeconds: 0.2 });
    expect(await received("delayed")).toEqual([]);
    const { approximateMessagesCount } = await new QueueClient(azurite.connectionString, "delayed").getProperties();
    expect(approximateMessagesCount).toBe(2);
    await expect(queue.send(message(), { delaySeconds: 604_801 })).rejects.toThrow("0 to 604800 s");
    await expect(queue.send(message(), { delaySeconds: -1 })).rejects.toThrow("0 to 604800 s");
  });

  it("takes 48 KB of JSON and refuses more", () => {
    expect(queueText("x".repeat(49_150))).toHaveLength(65_536);
    expect(() => queueText("x".repeat(49_151))).toThrow("a queue message holds 65536 characters in base64");
  });
});
