// A fake of an Azure Storage queue with the Functions host in front of it: at least once, late, out of order, the delivery
// counted, and poison after five. It stands for the service, not for any code of ours.
import * as v from "valibot";
import { careMessage, type CareMessage, type CareQueue } from "../../src/fleet/care-message.ts";
import { StoreError } from "../../src/fleet/table.ts";

export interface QueueFaults {
  readonly random: () => number;
  /** A send that never arrives, and one that arrives though its answer is lost. */
  readonly before: number;
  readonly after: number;
  /** A message that is in the queue twice. */
  readonly twice: number;
  /** A message that comes up to so many seconds late. */
  readonly lateSeconds: number;
  readonly pause: () => Promise<void>;
}

/** One delivery. A worker that dies says nothing: the message is seen again when its lease has run out. */
export interface Delivered {
  /** As the host hands it over: parsed JSON. */
  readonly message: unknown;
  readonly dequeueCount: number;
  /** Worked through: the message is gone. */
  done(): void;
  /** Failed: seen again after the queue's visibilityTimeout, or put among the poison. */
  failed(): void;
}

interface Queued {
  readonly text: string;
  readonly id: number;
  visibleAt: number;
  dequeueCount: number;
}

export interface MemoryQueue extends CareQueue {
  /** One of those that can be seen, not always the oldest; undefined where none can. */
  receive(): Delivered | undefined;
  /** When the next message can be seen. Undefined: the queue is empty. */
  nextAt(): Date | undefined;
  /** What failed five times, taken out. */
  takePoison(): unknown;
  readonly sent: readonly CareMessage[];
}

/** host.json: maxDequeueCount, visibilityTimeout; and the lease that the host holds while a function runs. */
const tries = 5;
const visibilitySeconds = 60;
const leaseSeconds = 600;

export function createMemoryQueue(now: () => Date, faults?: QueueFaults): MemoryQueue {
  let queued: Queued[] = [];
  const poison: unknown[] = [];
  const sent: CareMessage[] = [];
  let lastId = 0;
  const random = faults?.random ?? (() => 0);
  const inSeconds = (seconds: number): number => Math.ceil(now().getTime() + seconds * 1000);

  const put = (message: CareMessage, delaySeconds: number): void => {
    sent.push(message);
    lastId += 1;
    // Every other one comes in time, so that two of one message also meet.
    const late = random() < 0.5 ? 0 : random() * (faults?.lateSeconds ?? 0);
    queued.push({
      text: JSON.stringify(v.parse(careMessage, message)),
      id: lastId,
      visibleAt: inSeconds(delaySeconds + late),
      dequeueCount: 0,
    });
  };

  return {
    sent,
    async send(message, { delaySeconds = 0 } = {}) {
      if (delaySeconds < 0 || delaySeconds > 7 * 86_400) throw new Error("a delay of 0 to 7 days");
      await faults?.pause();
      if (random() < (faults?.before ?? 0)) throw new StoreError("the connection was refused");
      put(message, delaySeconds);
      if (random() < (faults?.twice ?? 0)) put(message, delaySeconds);
      await faults?.pause();
      if (random() < (faults?.after ?? 0)) throw new StoreError("the connection was reset");
    },
    receive() {
      const seen = queued.filter(({ visibleAt }) => visibleAt <= now().getTime());
      const one = seen[Math.floor(random() * seen.length)];
      if (one === undefined) return undefined;
      one.dequeueCount += 1;
      one.visibleAt = inSeconds(leaseSeconds);
      const message: unknown = JSON.parse(one.text);
      const take = (): void => {
        queued = queued.filter((other) => other !== one);
      };
      if (one.dequeueCount > tries) {
        // Its last worker died: the host does not try again what was tried five times.
        take();
        poison.push(message);
        return this.receive();
      }
      return {
        message,
        dequeueCount: one.dequeueCount,
        done: take,
        failed: () => {
          one.visibleAt = inSeconds(visibilitySeconds);
          if (one.dequeueCount < tries) return;
          take();
          poison.push(message);
        },
      };
    },
    nextAt: () => (queued.length === 0 ? undefined : new Date(Math.min(...queued.map(({ visibleAt }) => visibleAt)))),
    takePoison: () => poison.shift(),
  };
}
