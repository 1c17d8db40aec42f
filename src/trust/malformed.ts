// Why Go's crypto/x509 cannot read a certificate.
import type { GoString } from "./go-text.ts";

/** The text of Go's error, `x509: …` where Go writes that. A value like any other: nothing throws it. */
export class Malformed {
  readonly text: GoString;

  constructor(text: GoString) {
    this.text = text;
  }
}
