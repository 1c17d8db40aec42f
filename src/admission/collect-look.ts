// The one way in which collect asks for things: what is not allowed is not tried, and what was not seen is written down.
import { failure, success } from "../result.ts";
import type { Result } from "../result.ts";
import type { ApiFailure, ClusterApi } from "./cluster-api.ts";
import { nameOf } from "./parse-object.ts";
import type { Unseen } from "./snapshot.ts";

/** One look at one cluster. `unseen` grows while looking. */
export interface Look {
  readonly cluster: ClusterApi;
  readonly unseen: Unseen[];
}

export type Parser<T> = (object: unknown) => Result<T, string>;

/**
 * Every object of a collection that can be read. A malformed object is written down by its path and left out: it never
 * stops the others.
 */
export async function lookAtList<T>(
  look: Look,
  path: string,
  parse: Parser<T>,
): Promise<Result<readonly T[], ApiFailure>> {
  const answer = await look.cluster.list(path);
  if (!answer.ok) {
    look.unseen.push({ what: path, why: answer.error });
    return answer;
  }
  const parsed = answer.value.map((object) => ({ object, read: parse(object) }));
  for (const { object, read } of parsed) {
    if (!read.ok) look.unseen.push({ what: `${path}/${nameOf(object)}`, why: malformed(read.error) });
  }
  return success(parsed.flatMap(({ read }) => (read.ok ? [read.value] : [])));
}

/** One object. That it is not there is an answer like any other, and is not written down as unseen. */
export async function lookAtObject<T>(look: Look, path: string, parse: Parser<T>): Promise<Result<T, ApiFailure>> {
  const answer = await look.cluster.get(path);
  const parsed = answer.ok ? parse(answer.value) : undefined;
  if (parsed?.ok === true) return success(parsed.value);
  const why = answer.ok ? malformed(parsed?.error ?? "") : answer.error;
  if (why.kind !== "not-found") look.unseen.push({ what: path, why });
  return failure(why);
}

/** Writes down that something was not asked for, because the API server said beforehand that it would refuse. */
export function leaveOut(look: Look, path: string, right: string): ApiFailure {
  const why: ApiFailure = { kind: "forbidden", message: `this user may not ${right}` };
  look.unseen.push({ what: path, why });
  return why;
}

export function malformed(reason: string): ApiFailure {
  return { kind: "invalid", message: reason };
}
