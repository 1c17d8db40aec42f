import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QueueServiceClient } from "@azure/storage-queue";
import { TableClient } from "@azure/data-tables";
import { startAzurite, type Azurite } from "../../src/lab/azurite.ts";

let azurite: Azurite;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "azurite-test-"));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  const starting = startAzurite();
  process.env.TMPDIR = before;
  azurite = await starting;
});
afterAll(() => azurite.stop());

describe("startAzurite", () => {
  it("serves queues", async () => {
    const queue = QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient("care");
    await queue.create();
    await queue.sendMessage("aGVsbG8=");
    const { receivedMessageItems } = await queue.receiveMessages();
    expect(receivedMessageItems.map(({ messageText }) => messageText)).toEqual(["aGVsbG8="]);
  });

  it("serves tables", async () => {
    const table = TableClient.fromConnectionString(azurite.connectionString, "rows", { allowInsecureConnection: true });
    await table.createTable();
    await table.createEntity({ partitionKey: "p", rowKey: "r", value: "1" });
    expect((await table.getEntity("p", "r")).value).toBe("1");
  });

  it("ends with its parent, however that ends", async () => {
    const module = path.join(import.meta.dirname, "../../src/lab/azurite.ts");
    const script = `const { startAzurite } = await import(${JSON.stringify(module)});
      const { connectionString } = await startAzurite();
      console.log(/QueueEndpoint=([^;]+)/.exec(connectionString)[1]);`;
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const endpoint = await new Promise<string>((resolve) => {
      parent.stdout.once("data", (chunk: Buffer) => {
        resolve(chunk.toString("utf8").trim());
      });
    });
    expect((await fetch(endpoint)).status).toBeGreaterThanOrEqual(400);
    parent.kill("SIGKILL");
    await expect
      .poll(
        () =>
          fetch(endpoint).then(
            () => "up",
            () => "down",
          ),
        { timeout: 10_000 },
      )
      .toBe("down");
  });

  it("removes its folder when it is stopped", async () => {
    expect(readdirSync(folder)).toHaveLength(1);
    await azurite.stop();
    expect(readdirSync(folder)).toEqual([]);
  });
});
