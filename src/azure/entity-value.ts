// A JSON value as the properties of one entity of Table storage, and back.
import type { Json } from "../fleet/table.ts";

/** A string property holds 64 KiB of UTF-16: 32,768 characters (Learn, "Understanding the Table service data model"). */
const partLength = 30_000;
/** An entity holds 1 MiB, the names of its properties included (as above). This leaves room for them. */
const longestValue = 450_000;

/** The value's JSON text in `value0`, `value1`, …. Throws where it is longer than 450,000 characters (about 900 KB). */
export function splitValue(value: Json): Record<string, string> {
  const text = asciiJson(value);
  if (text.length > longestValue) {
    const [most, length] = [longestValue, text.length].map((count) => count.toLocaleString("en-GB"));
    throw new RangeError(`a table row holds ${most} characters of JSON at most, and this value has ${length}`);
  }
  const parts: Record<string, string> = {};
  for (let number = 0; number * partLength < text.length; number += 1) {
    parts[`value${number}`] = text.slice(number * partLength, (number + 1) * partLength);
  }
  return parts;
}

/** In ASCII a text can be cut anywhere, and one character is one unit of the limits above. */
function asciiJson(value: Json): string {
  return JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The value of an entity that `splitValue` has made. Throws where the properties are no JSON text. */
export function joinValue(entity: Readonly<Record<string, unknown>>): Json {
  const parts: string[] = [];
  for (let number = 0; ; number += 1) {
    const part = entity[`value${number}`];
    if (typeof part !== "string") break;
    parts.push(part);
  }
  return JSON.parse(parts.join("")) as Json;
}
