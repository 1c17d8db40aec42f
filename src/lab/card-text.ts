// Reads a card as a person does.
import { parseCommonAlert, type Alert } from "../web/common-alert.ts";

/** Everything in the card that is text on the screen, in order. */
export function linesOf(element: unknown): string[] {
  if (Array.isArray(element)) return element.flatMap(linesOf);
  if (typeof element !== "object" || element === null) return [];
  const { type, text, title, ...rest } = element as Record<string, unknown>;
  if (type === "TextRun" && typeof text === "string") return [text];
  if (type === "Action.OpenUrl" && typeof title === "string") return [`[${title}]`];
  return Object.values(rest).flatMap(linesOf);
}

/** As linesOf, with what stands side by side in one line. */
export function screenOf(element: unknown): string[] {
  if (Array.isArray(element)) return element.flatMap(screenOf);
  if (typeof element !== "object" || element === null) return [];
  const { type, columns, ...rest } = element as Record<string, unknown>;
  if (type !== "ColumnSet")
    return type === "TextRun" || type === "Action.OpenUrl" ? linesOf(element) : screenOf(Object.values(rest));
  const [label = "", ...values] = linesOf(columns);
  return [`${label.padEnd(labelColumns)}${values.join(" ")}`];
}

/** As wide as the longest label, "fleetmend did", and some room. */
export const labelColumns = 16;

/** All elements of a type. */
export function elementsOf(element: unknown, type: string): Record<string, unknown>[] {
  if (Array.isArray(element)) return element.flatMap((one) => elementsOf(one, type));
  if (typeof element !== "object" || element === null) return [];
  const here = element as Record<string, unknown>;
  return [...(here.type === type ? [here] : []), ...Object.values(here).flatMap((one) => elementsOf(one, type))];
}

export function alertOf(body: unknown): Alert {
  const parsed = parseCommonAlert(body);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}
