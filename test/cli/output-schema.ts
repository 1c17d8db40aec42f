// The published schema as a check. ajv is a dependency of the tests only.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

const file = path.join(import.meta.dirname, "..", "..", "schema", "fleetmend-output.v1.json");
export const outputSchema: unknown = JSON.parse(readFileSync(file, "utf8"));

const ajv = new Ajv2020({ strict: true, allErrors: true, formats: { "date-time": true } });
const validate = ajv.compile(outputSchema as object);

/** The document on stdout, after it was found to be as the schema says. */
export function checkedDocument(stdout: string): Record<string, unknown> {
  const document = JSON.parse(stdout) as Record<string, unknown>;
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
  return document;
}
