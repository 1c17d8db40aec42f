// Many workers in one thread, interleaved by a seed: whoever waits is woken in an order that only the seed decides, and time
// passes only where nobody has anything to do. A killed worker is one whose wait never ends: nothing of it runs any more,
// not even its `finally`, as when a process dies.

/** Numbers in [0, 1) that only depend on the seed (mulberry32, by Tommy Ettinger, public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Waiting {
  readonly at: number;
  readonly wake: () => void;
  readonly worker: Worker | undefined;
}

/** What dies together. */
export interface Worker {
  isDead: boolean;
  /** Resolves when it dies. */
  readonly death: Promise<void>;
  kill(): void;
}

export function startWorker(): Worker {
  const death = Promise.withResolvers<undefined>();
  const worker = {
    isDead: false,
    death: death.promise,
    kill: () => {
      worker.isDead = true;
      death.resolve(undefined);
    },
  };
  return worker;
}

export class Simulation {
  readonly random: () => number;
  #time: number;
  #waiting: Waiting[] = [];
  /** Called after each wake-up, when everybody waits again: the place to check what must hold at every moment. */
  afterEach: () => void = () => undefined;

  constructor(seed: number, start: Date) {
    this.random = seededRandom(seed);
    this.#time = start.getTime();
  }

  readonly now = (): Date => new Date(this.#time);

  /** Time passes for everybody, as when the machine was suspended. */
  jump(seconds: number): void {
    this.#time += seconds * 1000;
  }

  /** Waits so long; 0: lets others go first, perhaps. */
  sleep(ms: number, worker?: Worker): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ at: this.#time + ms, wake: resolve, worker }));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** Whether anybody alive waits. */
  get isIdle(): boolean {
    this.#waiting = this.#waiting.filter(({ worker }) => worker?.isDead !== true);
    return this.#waiting.length === 0;
  }

  /** Wakes one after the other, until nobody waits or `until` says so. */
  async run(until: () => boolean = () => false): Promise<void> {
    await everybodyWaits();
    while (!this.isIdle && !until()) {
      const due = this.#waiting.filter(({ at }) => at <= this.#time);
      const next = due[Math.floor(this.random() * due.length)];
      if (next === undefined) {
        this.#time = Math.min(...this.#waiting.map(({ at }) => at));
        continue;
      }
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.wake();
      await everybodyWaits();
      this.afterEach();
    }
  }
}

/** All promises that can go on without us have. */
function everybodyWaits(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
