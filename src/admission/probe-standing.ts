// What a hook's probe comes to: accepted, refused, or neither was shown. Pure.
import type { HandshakeAnswer, HookProbe, ProbeReport } from "./probe-report.ts";

/** `good`: accepted. `bad`: refused, or at the next connection. `open`: neither was shown. */
export type Standing = "good" | "bad" | "open";

/** What a result comes to. Hooks that no pod reaches, or that fail open, are good where every handshake is trusted. */
export function standingOf(probe: HookProbe): Standing {
  switch (probe.result) {
    case "proven":
    case "denied-by-target":
      return "good";
    case "failed":
    case "latent":
      return "bad";
    case "not-reached":
    case "blind":
      return standingOfHandshake(probe.handshake);
    case "blocked":
    case "undecided":
    case "forbidden":
    case "no-namespace":
      return probe.handshake.trust === "broken" ? "bad" : "open";
  }
}

function standingOfHandshake({ trust }: HandshakeAnswer): Standing {
  switch (trust) {
    case "trusted":
      return "good";
    case "broken":
      return "bad";
    case "undetermined":
      return "open";
  }
}

/** Of a repair, which may end in a namespace that does not exist: where a hook is open, trusted handshakes are enough. */
export function isProven(report: ProbeReport): boolean {
  return report.hooks.every((one) => {
    const standing = standingOf(one);
    return standing === "good" || (standing === "open" && "handshake" in one && one.handshake.trust === "trusted");
  });
}
