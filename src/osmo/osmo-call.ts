// One call to OSMO: sent once or up to three times, and read as JSON of a given shape, or as a failure with a class.
import * as v from "valibot";
import { failure, success, type Result } from "../result.ts";
import { badAnswer, failureOf, isPassing, ofTransport, type OsmoFailure } from "./osmo-failure.ts";
import type { OsmoAnswer, OsmoRequest, OsmoTransport } from "./osmo-transport.ts";
import type { SecretText } from "./secret-text.ts";

export interface OsmoCaller {
  readonly transport: OsmoTransport;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Every secret value seen so far: taken out of every text. */
  readonly secrets: Set<SecretText>;
}

export interface JsonCall<T> extends Omit<OsmoRequest, "body"> {
  readonly body?: unknown;
  readonly shape: v.GenericSchema<unknown, T>;
  /** What the answer should be, for the message. */
  readonly what: string;
}

// A pool that was closed under us is back within two seconds (measured on OSMO 6.2.10 and 6.3.0).
const pausesMs = [500, 2000];

/** For reads, and for what may be repeated: three attempts where the failure passes by itself. */
export async function callAgain<T>(caller: OsmoCaller, call: JsonCall<T>): Promise<Result<T, OsmoFailure>> {
  return withPauses(caller, () => callOnce(caller, call));
}

export async function withPauses<T>(
  { sleep }: Pick<OsmoCaller, "sleep">,
  attempt: () => Promise<Result<T, OsmoFailure>>,
): Promise<Result<T, OsmoFailure>> {
  for (const pause of pausesMs) {
    const result = await attempt();
    if (result.ok || !isPassing(result.error)) return result;
    await sleep(pause);
  }
  return attempt();
}

/** For writes. */
export async function callOnce<T>(caller: OsmoCaller, call: JsonCall<T>): Promise<Result<T, OsmoFailure>> {
  const answer = await send(caller, call);
  if (!answer.ok) return answer;
  if (answer.value.status !== 200) return failure(failureOf(answer.value, caller.secrets));
  return parse(answer.value.body, call);
}

/** Any status is an answer. */
export async function send(
  { transport }: OsmoCaller,
  { method, path, headers, body }: Omit<JsonCall<unknown>, "shape" | "what">,
): Promise<Result<OsmoAnswer, OsmoFailure>> {
  const json = body === undefined ? undefined : JSON.stringify(body);
  const answer = await transport.request({
    method,
    path,
    headers: { ...headers, ...(json !== undefined && { "content-type": "application/json" }) },
    ...(json !== undefined && { body: json }),
  });
  return answer.ok ? answer : failure(ofTransport(answer.error));
}

/** What is not as expected is not told: it could be anything. */
export function parse<T>(text: string, { shape, what }: Pick<JsonCall<T>, "shape" | "what">): Result<T, OsmoFailure> {
  try {
    const parsed = v.safeParse(shape, JSON.parse(text));
    return parsed.success ? success(parsed.output) : failure(badAnswer(what));
  } catch {
    return failure(badAnswer(what));
  }
}
