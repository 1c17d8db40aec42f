import { describe, expect, it } from "vitest";
import { connectionOf, unsettledMs, type BundleHistory } from "../../src/admission/fresh-connection.ts";
import type { Hook } from "../../src/admission/snapshot.ts";
import { hookOf, validatingBinder } from "./hook-of.ts";
import { snapshotOf } from "./snapshot-of.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const at = (clock: string): Date => new Date(`2026-06-01T${clock}Z`);

// Both hooks hold `new`, the mutating one written at 12:00:00 and the validating one a second later.
const mutating = hookOf({ bundle: bytes("new") });
const validating = hookOf({ holder: validatingBinder, bundle: bytes("new") });

type Past = readonly (readonly [bundle: string, since: string])[];

function history(hook: Hook, past: Past): BundleHistory {
  return {
    hook: { holderKind: hook.holder.kind, holder: hook.holder.name, index: hook.index, name: hook.name },
    bundles: past.map(([bundle, since]) => ({ bundle: bytes(bundle), since: at(since) })),
  };
}

interface Row {
  readonly name: string;
  readonly mutating?: Past;
  readonly validating?: Past;
  readonly probedAt?: string;
  readonly expected: "fresh" | "maybe-reused";
}

const table: readonly Row[] = [
  {
    name: "fresh where this run wrote new bytes and the old had stood for more than 90 s",
    mutating: [
      ["old", "11:50:00"],
      ["new", "12:00:00"],
    ],
    validating: [
      ["old", "11:50:00"],
      ["new", "12:00:01"],
    ],
    expected: "fresh",
  },
  { name: "maybe reused where this run wrote nothing", expected: "maybe-reused" },
  {
    name: "maybe reused where it is not known what stood there in the 90 s before",
    mutating: [
      ["old", "11:59:00"],
      ["new", "12:00:00"],
    ],
    validating: [
      ["old", "11:50:00"],
      ["new", "12:00:01"],
    ],
    expected: "maybe-reused",
  },
  {
    name: "maybe reused where these bytes went out of use less than 90 s before",
    mutating: [
      ["new", "11:00:00"],
      ["old", "11:59:00"],
      ["new", "12:00:00"],
    ],
    validating: [
      ["old", "11:00:00"],
      ["new", "12:00:01"],
    ],
    expected: "maybe-reused",
  },
  {
    name: "fresh where these bytes went out of use more than 90 s before",
    mutating: [
      ["new", "11:00:00"],
      ["old", "11:58:00"],
      ["new", "12:00:00"],
    ],
    validating: [
      ["old", "11:00:00"],
      ["new", "12:00:01"],
    ],
    expected: "fresh",
  },
  {
    name: "maybe reused where the other hook of the same server had these bytes",
    mutating: [
      ["old", "11:50:00"],
      ["new", "12:00:00"],
    ],
    validating: [["new", "11:50:00"]],
    expected: "maybe-reused",
  },
  {
    name: "maybe reused where nothing is known of the other hook of the same server",
    mutating: [
      ["old", "11:50:00"],
      ["new", "12:00:00"],
    ],
    expected: "maybe-reused",
  },
  {
    name: "maybe reused where the hook no longer holds what this run wrote",
    mutating: [
      ["old", "11:50:00"],
      ["other", "12:00:00"],
    ],
    validating: [
      ["old", "11:50:00"],
      ["new", "12:00:01"],
    ],
    expected: "maybe-reused",
  },
  {
    name: "maybe reused where the write may not have arrived in the API server's cache",
    mutating: [
      ["old", "11:50:00"],
      ["new", "12:00:00"],
    ],
    validating: [
      ["old", "11:50:00"],
      ["new", "12:00:00"],
    ],
    probedAt: "12:00:00.5",
    expected: "maybe-reused",
  },
  {
    name: "maybe reused a minute after the write",
    mutating: [
      ["old", "11:50:00"],
      ["new", "12:00:00"],
    ],
    validating: [
      ["old", "11:50:00"],
      ["new", "12:00:01"],
    ],
    probedAt: "12:01:01",
    expected: "maybe-reused",
  },
];

describe("connectionOf", () => {
  it.each(table)("is $name", (row) => {
    const changed = [
      ...(row.mutating === undefined ? [] : [history(mutating, row.mutating)]),
      ...(row.validating === undefined ? [] : [history(validating, row.validating)]),
    ];
    const snapshot = snapshotOf([mutating, validating]);
    expect(connectionOf(mutating, snapshot, changed, at(row.probedAt ?? "12:00:05"))).toBe(row.expected);
  });

  it("takes the time of a hook that this run did not write from managedFields", () => {
    const writer = { manager: "webhookmanager", operation: "Update", time: at("11:50:00") };
    const untouched = hookOf({ holder: validatingBinder, bundle: bytes("old"), bundleWriter: writer });
    const changed = [
      history(mutating, [
        ["old", "11:50:00"],
        ["new", "12:00:00"],
      ]),
    ];
    expect(connectionOf(mutating, snapshotOf([mutating, untouched]), changed, at("12:00:05"))).toBe("fresh");
  });

  it("does not mind hooks of other servers", () => {
    const queue = hookOf({ serverName: "queuecontroller.kai-scheduler.svc", bundle: bytes("new") });
    const changed = [
      history(mutating, [
        ["old", "11:50:00"],
        ["new", "12:00:00"],
      ]),
    ];
    expect(connectionOf(mutating, snapshotOf([mutating, queue]), changed, at("12:00:05"))).toBe("fresh");
  });
});

describe("unsettledMs", () => {
  it("is what is left of a second since the last write", () => {
    const changed = [
      history(mutating, [
        ["old", "11:50:00"],
        ["new", "12:00:00"],
      ]),
    ];
    expect(unsettledMs(changed, at("12:00:00.4"))).toBe(600);
    expect(unsettledMs(changed, at("12:00:02"))).toBe(0);
    expect(unsettledMs([], at("12:00:00"))).toBe(0);
  });
});
