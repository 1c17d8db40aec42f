// CareQueue over an Azure Storage queue, in the encoding that the Functions host reads.
import type { QueueClient } from "@azure/storage-queue";
import type { CareQueue } from "../fleet/care-message.ts";
import {
  endpointOf,
  fromConnectionString,
  refusalOf,
  storageDeadlineMs,
  storageRetries,
  storeError,
  type StorageAccount,
} from "./storage-account.ts";

/** A message's text, base64 included (Learn, "Azure Queue Storage", 64 KiB). */
const longestText = 65_536;
const oneWeekSeconds = 7 * 24 * 60 * 60;

/**
 * Opens the queue `name`. Nothing is sent: the queue is created when a message is first sent and it is not there. `send`
 * throws StoreError where the service or the way to it refuses, and a RangeError for a message that no queue takes. A send
 * that is retried may put the message in twice.
 */
export async function openCareQueue(account: StorageAccount, name = "care"): Promise<CareQueue> {
  const client = await clientOf(account, name);
  return {
    async send(message, { delaySeconds = 0 } = {}) {
      const text = queueText(message);
      const times = timesOf(delaySeconds);
      const send = () => client.sendMessage(text, { ...options(), ...times });
      try {
        await withQueue(client, send);
      } catch (error) {
        throw storeError(`send to the queue ${name}`, error);
      }
    },
  };
}

/** `messageEncoding: base64` in host.json, its default: a message in plain text would go straight to the poison queue. */
export function queueText(message: unknown): string {
  const text = Buffer.from(JSON.stringify(message), "utf8").toString("base64");
  if (text.length > longestText) {
    throw new RangeError(`a queue message holds ${longestText} characters in base64, and this one has ${text.length}`);
  }
  return text;
}

/** A message may be hidden for seven days and must live longer than that (Learn, "Put Message"). */
function timesOf(delaySeconds: number): { readonly visibilityTimeout: number; readonly messageTimeToLive: number } {
  const visibilityTimeout = Math.ceil(delaySeconds);
  if (!(visibilityTimeout >= 0 && visibilityTimeout <= oneWeekSeconds)) {
    throw new RangeError(`a message can be put off by 0 to ${oneWeekSeconds} s, not by ${delaySeconds}`);
  }
  return { visibilityTimeout, messageTimeToLive: visibilityTimeout + oneWeekSeconds };
}

async function clientOf(account: StorageAccount, name: string): Promise<QueueClient> {
  const { QueueClient } = await import("@azure/storage-queue");
  const { maxRetries, retryDelayInMs, maxRetryDelayInMs } = storageRetries;
  const common = { retryOptions: { maxTries: maxRetries + 1, retryDelayInMs, maxRetryDelayInMs } };
  return "accountName" in account
    ? new QueueClient(`${endpointOf(account.accountName, "queue")}/${name}`, account.credential, common)
    : fromConnectionString(() => new QueueClient(account.connectionString, name, common));
}

const options = () => ({ abortSignal: AbortSignal.timeout(storageDeadlineMs) });

async function withQueue<T>(client: QueueClient, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (refusalOf(error).code !== "QueueNotFound") throw error;
    // Does nothing where another instance has just made it.
    await client.createIfNotExists(options());
    return send();
  }
}
