// Why a certificate or a chain is refused: Go's text beside the reason as data.
import type { GoString } from "./go-text.ts";
import type { Rejection } from "./verdict.ts";

export interface Refusal {
  /** In Go's words, without the prefix that crypto/tls puts before it. */
  readonly text: GoString;
  readonly rejection: Rejection;
}

/** An answer that we cannot give, and why. */
export interface Unknown {
  readonly unknown: string;
}
