// Why Go's crypto/x509 cannot read a certificate.

/** The text of Go's error, `x509: …` where Go writes that. A value like any other: nothing throws it. */
export class Malformed {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
