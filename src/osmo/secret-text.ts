// A secret value that cannot be printed by accident: text, JSON and the inspector all show its fingerprint.
import { createHash } from "node:crypto";
import { inspect } from "node:util";

export interface SecretText {
  /** The value itself. Call it only where it is sent, stored or compared. */
  reveal(): string;
  /** `sha256:` and the first 12 hexadecimal digits. It may be logged: 43 random characters cannot be guessed from it. */
  readonly fingerprint: string;
  toString(): string;
}

export function secretText(value: string): SecretText {
  const fingerprint = `sha256:${createHash("sha256").update(value).digest("hex").slice(0, 12)}`;
  const shown = (): string => `[secret ${fingerprint}]`;
  const secret = { reveal: () => value, toString: shown, toJSON: shown, [inspect.custom]: shown };
  return Object.defineProperty(secret, "fingerprint", { value: fingerprint, enumerable: true }) as typeof secret &
    SecretText;
}

// A token of 6.2 and later, one of 6.0 or a hash, and a JWT (or the start of one).
const shapes = [/eyJ[\w-]{8,}(\.[\w-]*){0,2}/g, /[0-9a-fA-F]{64}/g, /[\w-]{43}/g];

/**
 * A text from outside, made fit to show: the given secrets, whatever looks like a token or a JWT, and all beyond 200
 * characters are taken out. It cannot find a password that looks like a word: do not show what may hold one.
 */
export function redacted(text: string, secrets: Iterable<SecretText> = []): string {
  let shown = text;
  for (const secret of secrets) {
    const value = secret.reveal();
    if (value !== "") shown = shown.replaceAll(value, "[secret]");
  }
  for (const shape of shapes) shown = shown.replaceAll(shape, "[secret]");
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}
