// What a row of ours must look like. A row that another hand, or a newer fleetmend, has written is not guessed at.
import * as v from "valibot";
import type { Row } from "./table.ts";

/** The row is there and is not one that this fleetmend writes. `message` names it and says what to do. */
export class UnreadableRow extends Error {
  override readonly name = "UnreadableRow";
}

/** The row's value in the shape of `schema`. Throws UnreadableRow; no part of the value is in its message. */
export function readRow<S extends v.GenericSchema>(schema: S, row: Row, ifDeleted: string): v.InferOutput<S> {
  const parsed = v.safeParse(schema, row.value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue) ?? "the whole value";
  throw new UnreadableRow(
    `The table's row ${row.partition}/${row.row} is not as this version of fleetmend writes it (${where}: ` +
      `${issue.expected ?? "something else"} is expected). Deploy the version that wrote it, or delete the row: ${ifDeleted}`,
  );
}
