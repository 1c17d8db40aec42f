import { describe, expect, it } from "vitest";
import { command, paragraph, printable, styled, typeset } from "../../src/cli/typeset.ts";

const page = { width: 20, colour: false };

describe("typeset", () => {
  it("wraps between words and hangs the following lines", () => {
    expect(typeset([paragraph(2, ["one two three four five six"], 4)], page)).toBe(
      "  one two three four\n    five six\n",
    );
  });

  it("keeps a word that is wider than the page whole, on a line of its own", () => {
    expect(typeset([paragraph(2, ["the bundle-of-a-very-long-name is stale"])], page)).toBe(
      "  the\n  bundle-of-a-very-long-name\n  is stale\n",
    );
  });

  it("does not break a word where its style changes", () => {
    expect(typeset([paragraph(0, ["aaaa bbbb cccc ", styled("strong", "dddd"), ", eeee"])], page)).toBe(
      "aaaa bbbb cccc dddd,\neeee\n",
    );
  });

  it("does not break a command, which is there to be copied", () => {
    expect(typeset([command(2, "fleetmend repair --context production")], page)).toBe(
      "  fleetmend repair --context production\n",
    );
  });

  it("counts no column for a colour", () => {
    expect(typeset([paragraph(0, [styled("bad", "broken"), " 12345678 1234 x"])], { width: 20, colour: true })).toBe(
      "\u001b[31;1mbroken\u001b[0m 12345678 1234\nx\n",
    );
  });
});

describe("printable", () => {
  it.each([
    ["an escape sequence", "a\u001b[2Jb", "a\\u001b[2Jb"],
    ["a bidirectional override", "a\u202eb", "a\\u202eb"],
    ["a line break, as a space", "a\nb", "a b"],
    ["a C1 control", "a\u009bb", "a\\u009bb"],
  ])("shows %s instead of obeying it", (_name, text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});
