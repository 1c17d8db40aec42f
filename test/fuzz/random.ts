// Random choices that a seed repeats.

export interface Random {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** As many as asked, or fewer, in any order, some twice. */
  some<T>(items: readonly T[], most: number): readonly T[];
  bytes(length: number): Uint8Array;
}

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state, enough to choose by. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / 2 ** 32) * limit);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  };
  return {
    below,
    once: (times) => below(times) === 0,
    pick,
    some: (items, most) => Array.from({ length: below(most + 1) }, () => pick(items)),
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  };
}
