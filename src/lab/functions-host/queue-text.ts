// What stands in a queue message for a text, and back: base64 unless host.json says `none`.

export type MessageEncoding = "base64" | "none";

export function encodeMessage(text: string, encoding: MessageEncoding): string {
  return encoding === "none" ? text : Buffer.from(text, "utf8").toString("base64");
}

/** Undefined where it is not base64, or not UTF-8 below it. */
export function decodeMessage(text: string, encoding: MessageEncoding): string | undefined {
  if (encoding === "none") return text;
  // Buffer.from passes over what is no base64; .NET's Convert.FromBase64String throws.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "base64"));
  } catch {
    return undefined;
  }
}
