// Commands that people copy from our output.

/** A word as a POSIX shell reads it back: quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** How fleetmend was called, and must be called again: by `npm run` in a clone, or by a name of its own. */
export function calledAs(env: Readonly<Record<string, string | undefined>>): string {
  return env.npm_lifecycle_event === "fleetmend" ? "npm run -s fleetmend --" : "fleetmend";
}
