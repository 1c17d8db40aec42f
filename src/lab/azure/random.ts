// Chance that is the same for the same seed, so that a subscription of the lab can be had again.

/** Numbers from 0 to below 1: mulberry32, which is small and even enough to deal out faults. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of them; the list must not be empty. */
export function pick<T>(list: readonly [T, ...T[]] | readonly T[], random: () => number): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error("nothing to pick from");
  return chosen;
}

/** A copy in another order (Fisher and Yates). */
export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const rest = [...list];
  return list.map(() => {
    const [taken] = rest.splice(Math.floor(random() * rest.length), 1);
    if (taken === undefined) throw new Error("there is one left for each");
    return taken;
  });
}
