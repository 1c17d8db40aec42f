// caBundle texts: PEM as it should be, and as people and scripts make it.
import { type Edit, applyEdits } from "./certificate-recipe.ts";
import { byteEdit } from "./mutate.ts";
import type { Random } from "./random.ts";

export interface PemPiece {
  /** Which certificate of the case; undefined for other bytes. */
  certificate: number | undefined;
  begin: string;
  end: string;
  headers: string;
  before: string;
  after: string;
  width: number;
  newline: string;
  /** Of the base64 text. */
  bodyEdits: Edit[];
}

export interface Bundle {
  pieces: PemPiece[];
  /** Of the whole text. */
  edits: Edit[];
}

export const plainPiece = (certificate: number | undefined): PemPiece => ({
  certificate,
  begin: "-----BEGIN CERTIFICATE-----",
  end: "-----END CERTIFICATE-----",
  headers: "",
  before: "",
  after: "\n",
  width: 64,
  newline: "\n",
  bodyEdits: [],
});

const types = [
  "TRUSTED CERTIFICATE",
  "X509 CERTIFICATE",
  "certificate",
  "CERTIFICATE ",
  "",
  "RSA PRIVATE KEY",
  "CERTIFICATE",
  "A-----B",
  " CERTIFICATE",
  "CERTIFICATE-----",
] as const;
const junk = [
  "# a comment\n",
  "\n",
  " ",
  "\t",
  "\r\n",
  "\ufeff",
  "x",
  '"',
  "subject: CN=a\n",
  "-----BEGIN CERTIFICATE-----\n",
  "-----END CERTIFICATE-----\n",
  "-----BEGIN ",
  "-----END ",
  "-----",
  "\0",
  "-----BEGIN X-----\nAA==\n-----END X-----\n",
  "-----BEGIN CERTIFICATE-----\nAAAA\n",
  "-----BEGIN CERTIFICATE-----\nA: b\n\n",
  "a:b\n",
  "\n\n-----BEGIN A-----\n-----END A-----\n",
  "-----BEGIN A-----\n-----END B-----\n",
  "-----END A-----",
] as const;
const headers = [
  "Proc-Type: 4,ENCRYPTED\n\n",
  "A: b\n",
  ":\n",
  "A:b\nC:d\n\n",
  "\n",
  "\n\n",
  " \n",
  "A: b",
  "no header\n",
  ": x\n\n",
] as const;

export function generateBundle(random: Random, certificates: readonly number[], oddness: number): Bundle {
  const pieces = certificates.map((certificate) => {
    const piece = plainPiece(random.once(60) ? undefined : certificate);
    if (random.once(oddness)) spoil(random, piece);
    return piece;
  });
  if (random.once(oddness))
    pieces.splice(random.below(pieces.length + 1), 0, { ...plainPiece(undefined), before: random.pick(junk) });
  return { pieces, edits: random.once(oddness * 2) ? [textEdit(random)] : [] };
}

function spoil(random: Random, piece: PemPiece): void {
  const odd = random.pick<() => Partial<PemPiece>>([
    () => ({ before: random.pick(junk) }),
    () => ({ before: random.pick(junk) + random.pick(junk) }),
    () => ({ after: random.pick(["", " ", "\n\n", "\r\n", " \n", "\t\r\n", "x\n", ...junk]) }),
    () => ({
      begin: `${random.pick(["", " ", "-", "\n"])}-----BEGIN ${random.pick(types)}-----${random.pick(["", " ", "\t", "\r", "-", "x"])}`,
    }),
    () => ({
      end: `${random.pick(["", " ", "-", "\n"])}-----END ${random.pick(types)}-----${random.pick(["", " ", "\t", "\r", "-", "x"])}`,
    }),
    () => {
      const type = random.pick(types);
      return { begin: `-----BEGIN ${type}-----`, end: `-----END ${type}-----` };
    },
    () => ({ headers: random.pick(headers) }),
    () => ({ width: random.pick([1, 63, 76, 10_000]) }),
    () => ({ newline: random.pick(["\r\n", "\r", " ", "", "\n ", "\n\n", "\\n", "\t\n", "\v\n", "\f"]) }),
    () => ({ bodyEdits: [random.once(2) ? byteEdit(random) : textEdit(random)] }),
    () => ({
      bodyEdits: [{ at: 1, drop: 0, put: [...Buffer.from(random.pick(["=", "==", "A", "AA==", "\n=", "-", "*"]))] }],
    }),
    () => ({ bodyEdits: [{ at: random.pick([0.99, 0.995, 0.998]), drop: 10_000, put: [] }] }),
  ])();
  Object.assign(piece, odd);
}

function textEdit(random: Random): Edit {
  const put = random.pick([random.pick(junk), random.pick(headers), "\n", "=", "A", "", "-", " "]);
  return { at: random.below(10_000) / 10_000, drop: random.below(6), put: [...Buffer.from(put)] };
}

export function renderBundle(bundle: Bundle, certificates: readonly Uint8Array[]): Uint8Array {
  return applyEdits(Buffer.concat(bundle.pieces.map((piece) => renderPiece(piece, certificates))), bundle.edits);
}

function renderPiece(piece: PemPiece, certificates: readonly Uint8Array[]): Buffer {
  const der = piece.certificate === undefined ? undefined : certificates[piece.certificate];
  if (der === undefined) return Buffer.from(piece.before);
  const base64 = Buffer.from(applyEdits(Buffer.from(Buffer.from(der).toString("base64")), piece.bodyEdits)).toString(
    "latin1",
  );
  const lines = base64.match(new RegExp(`[^]{1,${piece.width}}`, "g")) ?? [];
  const body = lines.map((line) => line + piece.newline).join("");
  const head = `${piece.before}${piece.begin}\n${piece.headers}`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body, "latin1"), Buffer.from(piece.end + piece.after)]);
}
