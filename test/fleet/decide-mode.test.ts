import { describe, expect, it } from "vitest";
import { decideMode } from "../../src/fleet/decide-mode.ts";
import type { Mode } from "../../src/fleet/mode.ts";

const tagged = (mode: Mode, tag: string | undefined, tagMayRaise = false) =>
  decideMode({ mode, tagMayRaise }, tag === undefined ? {} : { "fleetmend-mode": tag });

describe("decideMode", () => {
  it.each<[Mode, string | undefined, Mode]>([
    ["repair", undefined, "repair"],
    ["observe", undefined, "observe"],
    ["off", undefined, "off"],
    ["repair", "repair", "repair"],
    ["repair", "observe", "observe"],
    ["repair", "off", "off"],
    ["observe", "off", "off"],
    ["repair", " Observe ", "observe"],
  ])("in a subscription of %s a tag %j makes %s", (mode, tag, expected) => {
    expect(tagged(mode, tag)).toEqual({ mode: expected });
  });

  it.each<[Mode, string]>([
    ["off", "observe"],
    ["off", "repair"],
    ["observe", "repair"],
  ])("a tag does not raise %s to %s, and the report says so", (mode, tag) => {
    expect(tagged(mode, tag)).toEqual({
      mode,
      note: `The tag fleetmend-mode asks for ${tag}, and tags may not raise the mode ${mode}: set FLEETMEND_TAG_MAY_RAISE=true to let them.`,
    });
  });

  it("a tag raises the mode where it may", () => {
    expect(tagged("off", "repair", true)).toEqual({ mode: "repair" });
    expect(tagged("observe", "repair", true)).toEqual({ mode: "repair" });
  });

  it.each<[Mode, boolean, Mode]>([
    ["repair", false, "observe"],
    ["repair", true, "observe"],
    ["observe", true, "observe"],
    ["off", true, "off"],
  ])("a tag that cannot be read makes %s (raising allowed: %s) %s, and the report says so", (mode, raise, expected) => {
    for (const tag of ["", "fix", "on"]) {
      expect(tagged(mode, tag, raise)).toEqual({
        mode: expected,
        note: `The tag fleetmend-mode has a value that is none of off, observe, repair: ${expected} is followed.`,
      });
    }
  });

  it("takes the tag's name in any case, as Azure does, and no other tag", () => {
    expect(decideMode({ mode: "repair", tagMayRaise: false }, { "Fleetmend-Mode": "off" })).toEqual({ mode: "off" });
    expect(decideMode({ mode: "repair", tagMayRaise: false }, { mode: "off" })).toEqual({ mode: "repair" });
  });
});
