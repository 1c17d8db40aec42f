// The query of an HTTP request, read strictly: what is not known is refused, since a mistyped `dryrun` must not repair.
import type { HttpRequest } from "@azure/functions";
import { failure, success, type Result } from "../result.ts";

/** The parameters `names` of the query, each at most once; `code` is the function's key. An error is a sentence. */
export function readQuery<N extends string>(
  { query }: HttpRequest,
  names: readonly N[],
): Result<Readonly<Partial<Record<N, string>>>, string> {
  const found: Partial<Record<N, string>> = {};
  for (const [name, value] of query) {
    if (name === "code") continue;
    const known = names.find((one) => one === name);
    if (known === undefined) return failure(`There is no parameter ${JSON.stringify(name)}: ${listed(names)}.`);
    if (known in found) return failure(`${known} is given more than once.`);
    found[known] = value;
  }
  return success(found);
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "this address takes none" : `this address takes ${names.join(", ")}`;
