// Azurite, Microsoft's emulator of Azure Storage, as a child process: real queues, tables and blobs on 127.0.0.1, kept in
// memory. Not here: what fleetmend keeps in them.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

export interface Azurite {
  /** For the setting `AzureWebJobsStorage`. The account and its key are made anew at each start. */
  readonly connectionString: string;
  /** Ends the process and removes its folder. What was stored is gone. */
  readonly stop: () => Promise<void>;
}

const services = ["Blob", "Queue", "Table"] as const;
type Service = (typeof services)[number];

// A loaded machine takes several seconds for it; usually it is one and a half.
const startDeadlineMs = 60_000;

// The pipe to us ends with us, however we end, and Azurite with it.
const endWithParent = "data:text/javascript,process.stdin.on('end',()=>process.exit()).resume()";

/** Listens when it resolves. Ends with this process at the latest. Throws where Azurite does not start. */
export async function startAzurite(): Promise<Azurite> {
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-azurite-"));
  const account = { name: "fleetmendlab", key: randomBytes(64).toString("base64") };
  const child = spawn(process.execPath, ["--import", endWithParent, azuriteMain(), ...flags()], {
    // In memory it takes no --location; what it writes nevertheless goes to its working directory.
    cwd: folder,
    env: { ...withoutNodeOptions(process.env), AZURITE_ACCOUNTS: `${account.name}:${account.key}` },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      resolve();
    });
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const addresses = await listening(child);
    return { connectionString: connectionString(account, addresses), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function azuriteMain(): string {
  const manifest = createRequire(import.meta.url).resolve("azurite/package.json");
  return path.join(path.dirname(manifest), "dist/src/azurite.js");
}

/**
 * Free ports; no call home; and no refusal of a newer `x-ms-version` than this Azurite knows, since the SDKs move faster
 * (Azurite README, "Command line options").
 */
function flags(): string[] {
  const ports = services.map((service) => service.toLowerCase()).flatMap((name) => [`--${name}Port`, "0"]);
  return ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--loose", "--silent", ...ports];
}

/** An inspector or a loader of the parent's is not meant for Azurite. */
function withoutNodeOptions(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name !== "NODE_OPTIONS"));
}

/** Waits until each service has said where it listens. */
function listening(child: ChildProcess): Promise<Readonly<Record<Service, string>>> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => {
      reject(new Error(`Azurite did not listen within ${String(startDeadlineMs / 1000)} s: ${output}`));
    }, startDeadlineMs);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    child.once("error", (error) => {
      settle(() => {
        reject(error);
      });
    });
    child.once("close", () => {
      settle(() => {
        reject(new Error(`Azurite ended before it listened: ${output}`));
      });
    });
    const read = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
      const addresses = addressesIn(output);
      if (addresses !== undefined)
        settle(() => {
          resolve(addresses);
        });
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}

function addressesIn(output: string): Readonly<Record<Service, string>> | undefined {
  const entries = services.map((service) => [
    service,
    new RegExp(`Azurite ${service} service is successfully listening at (http://127\\.0\\.0\\.1:\\d+)\\s`).exec(
      output,
    )?.[1],
  ]);
  if (entries.some(([, address]) => address === undefined)) return undefined;
  // Each has an address.
  return Object.fromEntries(entries) as Record<Service, string>;
}

function connectionString(
  account: { readonly name: string; readonly key: string },
  addresses: Readonly<Record<Service, string>>,
): string {
  const endpoints = services.map((service) => `${service}Endpoint=${addresses[service]}/${account.name}`);
  return [
    "DefaultEndpointsProtocol=http",
    `AccountName=${account.name}`,
    `AccountKey=${account.key}`,
    ...endpoints,
  ].join(";");
}
