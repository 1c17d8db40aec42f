// Reads the files of an offline explain. What the API server makes of the bundle is the verdict's business: here only
// the wrapping is taken off, as leniently as people's files need it. Nothing read here is ever printed.
import { readFile } from "node:fs/promises";
import { type Result, failure, success } from "../result.ts";
import { type CommandFailure, wrongUse } from "./command-failure.ts";

/** The bytes of a field, and how the file held them. */
export interface FieldFile {
  readonly bytes: Uint8Array;
  readonly form: "pem" | "base64" | "raw";
}

/**
 * The decoded `caBundle` in `file`: base64 (as `kubectl -o jsonpath` prints the field) is decoded once; anything else is
 * taken as the bytes themselves. An empty file is an empty bundle. A failure where the file cannot be read.
 */
export async function readBundleFile(file: string): Promise<Result<FieldFile, CommandFailure>> {
  const read = await readFileOf("--bundle", file);
  return read.ok ? success(unwrap(read.value)) : read;
}

/**
 * The served certificates in `file`, leaf first, as DER: all CERTIFICATE blocks of PEM with anything around them (the
 * output of `openssl s_client -showcerts` will do), the base64 of such PEM (as a Secret holds it), or DER certificates
 * one after another. Other blocks, such as keys, are passed over. A failure where the file cannot be read or holds
 * no certificate. Whether the certificates can be parsed is NOT checked.
 */
export async function readServedFile(file: string): Promise<Result<readonly Uint8Array[], CommandFailure>> {
  const read = await readFileOf("--served", file);
  if (!read.ok) return read;
  const { bytes } = unwrap(read.value);
  const chain = certificateBlocks(bytes);
  if (chain.length > 0) return success(chain);
  const der = splitDer(bytes);
  if (der !== undefined) return success(der);
  return failure(
    wrongUse(
      `${file} holds no certificate.`,
      "--served takes PEM (-----BEGIN CERTIFICATE-----), leaf first, or DER. The tls.crt of the Secret is such a file.",
    ),
  );
}

/** The DER in the CERTIFICATE blocks of PEM, in order. Lenient: how Go reads a bundle is the verdict's business. */
export function certificateBlocks(pem: Uint8Array): readonly Uint8Array[] {
  const blocks = textOf(pem).matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g);
  return [...blocks].map((block) => Buffer.from(block[1] ?? "", "base64"));
}

function unwrap(bytes: Uint8Array): FieldFile {
  const text = textOf(bytes);
  if (text.includes("-----BEGIN")) return { bytes, form: "pem" };
  const packed = text.replaceAll(/\s/g, "");
  // RFC 4648 §4: whole groups of four, padded. Anything less is not what a field would hold.
  const isBase64 = packed.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(packed);
  return isBase64 ? { bytes: Buffer.from(packed, "base64"), form: "base64" } : { bytes, form: "raw" };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** The SEQUENCEs of which `bytes` consist (X.690 §8.1.3, definite lengths), or undefined where they do not. */
function splitDer(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  const parts: Uint8Array[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = endOfSequence(bytes, start);
    if (end === undefined || end > bytes.length) return undefined;
    parts.push(bytes.subarray(start, end));
    start = end;
  }
  return parts.length > 0 ? parts : undefined;
}

function endOfSequence(bytes: Uint8Array, start: number): number | undefined {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  if (tag !== 0x30 || first === undefined) return undefined;
  if (first < 0x80) return start + 2 + first;
  const count = first - 0x80;
  if (count < 1 || count > 3) return undefined;
  const octets = bytes.subarray(start + 2, start + 2 + count);
  return start + 2 + count + octets.reduce((length, octet) => length * 256 + octet, 0);
}

async function readFileOf(option: string, file: string): Promise<Result<Uint8Array, CommandFailure>> {
  try {
    return success(await readFile(file));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return failure(wrongUse(`Cannot read the file of ${option}: ${reason}.`, `Name a file after ${option}.`));
  }
}
