// Why a certificate or a chain is refused: Go's text beside the reason as data.
import type { GoString } from "./go-text.ts";
import type { Rejection } from "./verdict.ts";

export interface Refusal {
  /** In Go's words, without the prefix that crypto/tls puts before it. */
  readonly text: GoString;
  readonly rejection: Rejection;
}

/** The end of all judging: an answer that we cannot give, and why; or a panic of Go, and what it says. */
export type Stop =
  { readonly stop: "unknown"; readonly reason: string } | { readonly stop: "panic"; readonly text: GoString };
