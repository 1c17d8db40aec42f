// A queue trigger: polls, runs the function for each message, deletes what succeeded, lets what failed be seen again after
// visibilityTimeout, and moves to `<queue>-poison` what failed maxDequeueCount times or is not in the agreed encoding.
// Source: QueueListener.cs and QueueProcessor.cs of Microsoft.Azure.WebJobs.Extensions.Storage.Queues.
import type { DequeuedMessageItem, QueueClient } from "@azure/storage-queue";
import { setTimeout } from "node:timers/promises";
import type { TypedData } from "./core-types.ts";
import type { HostedFunction } from "./functions-of-app.ts";
import type { QueueOptions } from "./host-json.ts";
import type { Invoke } from "./invoke.ts";
import type { Log } from "./log-line.ts";
import { decodeMessage } from "./queue-text.ts";
import type { Running } from "./running.ts";

export interface QueueParts {
  readonly hosted: HostedFunction;
  readonly queue: QueueClient;
  /** Undefined for a queue that is itself a poison queue: its failures stay invisible until their lease ends. */
  readonly poison: QueueClient | undefined;
  readonly options: QueueOptions;
  /** For how long a message is taken; renewed at half of it while the function runs. Azure's host takes 600. */
  readonly leaseSeconds: number;
  readonly invoke: Invoke;
  readonly running: Running;
  readonly log: Log;
}

export interface QueueListener {
  /** No message is taken any more once it has resolved. What is under way goes on. */
  stop(): Promise<void>;
}

// QueuePollingIntervals.Minimum of the extension.
const shortestPollingMs = 100;

export function startQueue(parts: QueueParts): QueueListener {
  const stopping = new AbortController();
  const polling = poll(parts, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await polling;
    },
  };
}

async function poll(parts: QueueParts, stopped: AbortSignal): Promise<void> {
  const { options } = parts;
  const handled = new Set<Promise<void>>();
  const stop = aborted(stopped);
  const isStopped = (): boolean => stopped.aborted;
  let pauseMs = shortestPollingMs;
  while (!isStopped()) {
    const messages = await receive(parts);
    for (const message of messages) {
      const run = parts.running.track(handle(parts, message)).finally(() => handled.delete(run));
      handled.add(run);
    }
    pauseMs = messages.length > 0 ? shortestPollingMs : Math.min(pauseMs * 2, options.maxPollingInterval);
    if (messages.length === 0) await setTimeout(pauseMs, undefined, { signal: stopped }).catch(() => undefined);
    while (handled.size > options.newBatchThreshold && !isStopped()) {
      await Promise.race([...handled, stop]);
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener(
      "abort",
      () => {
        resolve();
      },
      { once: true },
    );
  });

/** Takes a batch. A queue that cannot be reached is logged and asked again later, as an outage of the storage is. */
async function receive(parts: QueueParts): Promise<readonly DequeuedMessageItem[]> {
  const { queue, options, leaseSeconds, log, hosted } = parts;
  try {
    const { receivedMessageItems } = await queue.receiveMessages({
      numberOfMessages: options.batchSize,
      visibilityTimeout: leaseSeconds,
    });
    return receivedMessageItems;
  } catch (error) {
    const message = `The queue ${queue.name} could not be asked: ${String(error)}`;
    log({ level: "warning", category: "host", function: hosted.name, message });
    return [];
  }
}

async function handle(parts: QueueParts, message: DequeuedMessageItem): Promise<void> {
  const { hosted, options, log } = parts;
  try {
    const text = decodeMessage(message.messageText, options.messageEncoding);
    if (text === undefined) {
      log({ level: "error", category: "host", function: hosted.name, message: notEncoded(parts, message) });
      await toPoison(parts, message, message.popReceipt);
    } else if (message.dequeueCount > options.maxDequeueCount && parts.poison !== undefined) {
      await toPoison(parts, message, message.popReceipt);
    } else {
      await run(parts, message, text);
    }
  } catch (error) {
    // The message is seen again when its lease ends.
    const words = `Message ${message.messageId} could not be completed: ${String(error)}`;
    log({ level: "error", category: "host", function: hosted.name, message: words });
  }
}

const notEncoded = ({ queue }: QueueParts, message: DequeuedMessageItem): string =>
  `Message ${message.messageId} of ${queue.name} is not base64 as host.json says (messageEncoding): to the poison queue.`;

async function run(parts: QueueParts, message: DequeuedMessageItem, text: string): Promise<void> {
  const lease = holdLease(parts, message);
  try {
    await parts.invoke(parts.hosted, { data: { string: text }, triggerMetadata: metadataOf(message, text) });
  } catch {
    // The invocation has logged what was thrown.
    await release(parts, message, await lease.end());
    return;
  }
  await parts.queue.deleteMessage(message.messageId, await lease.end());
}

async function release(parts: QueueParts, message: DequeuedMessageItem, popReceipt: string): Promise<void> {
  const { queue, options, poison } = parts;
  // Of a poison queue the extension leaves a failure invisible, so that it does not spin.
  if (poison === undefined) return;
  if (message.dequeueCount >= options.maxDequeueCount) {
    await toPoison(parts, message, popReceipt);
    return;
  }
  await queue.updateMessage(message.messageId, popReceipt, undefined, options.visibilityTimeout / 1000);
}

async function toPoison(parts: QueueParts, message: DequeuedMessageItem, popReceipt: string): Promise<void> {
  const { queue, poison, log, hosted } = parts;
  if (poison === undefined) return;
  await poison.createIfNotExists();
  await poison.sendMessage(message.messageText);
  await queue.deleteMessage(message.messageId, popReceipt);
  const words = `Message has reached MaxDequeueCount or cannot be read. Moving message to queue '${poison.name}'.`;
  log({ level: "warning", category: "host", function: hosted.name, message: words });
}

/** Renews the message's lease until `end`, which answers the pop receipt that is valid then. */
function holdLease(parts: QueueParts, message: DequeuedMessageItem): { end(): Promise<string> } {
  const { queue, leaseSeconds, log, hosted } = parts;
  let popReceipt = message.popReceipt;
  let renewal: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    try {
      const renewed = await queue.updateMessage(message.messageId, popReceipt, undefined, leaseSeconds);
      popReceipt = renewed.popReceipt ?? popReceipt;
    } catch (error) {
      const words = `The lease of message ${message.messageId} could not be renewed: ${String(error)}`;
      log({ level: "warning", category: "host", function: hosted.name, message: words });
    }
  };
  const timer = setInterval(() => {
    renewal = renewal.then(renew);
  }, leaseSeconds * 500);
  return {
    async end() {
      clearInterval(timer);
      await renewal;
      return popReceipt;
    },
  };
}

/** As the host sends it: dates and numbers as JSON, so that `dequeueCount` is a number for the handler. */
function metadataOf(message: DequeuedMessageItem, text: string): Readonly<Record<string, TypedData>> {
  return {
    QueueTrigger: { string: text },
    Id: { string: message.messageId },
    PopReceipt: { string: message.popReceipt },
    DequeueCount: { json: JSON.stringify(message.dequeueCount) },
    InsertionTime: { json: JSON.stringify(message.insertedOn) },
    ExpirationTime: { json: JSON.stringify(message.expiresOn) },
    NextVisibleTime: { json: JSON.stringify(message.nextVisibleOn) },
  };
}
