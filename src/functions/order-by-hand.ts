// What scanNow, repairNow and probeNow have in common: an order is read, given, and answered with the report or where to
// find it.
import type { HttpRequest, HttpResponseInit, InvocationContext } from "@azure/functions";
import type { Order, Ordered } from "../fleet/fleet.ts";
import { failure, success, type Result } from "../result.ts";
import { callerOf } from "./caller.ts";
import { answering, json, refuse, wrongInput } from "./http-answer.ts";
import { useFleet } from "./invocation.ts";
import { readQuery } from "./query.ts";

/** 200 with the report where it came in time, else 202 with its address. */
export function orderByHand(
  request: HttpRequest,
  context: InvocationContext,
  what: Order["what"],
): Promise<HttpResponseInit> {
  return answering(async () => {
    const order = await readOrder(request, what);
    if (!order.ok) return wrongInput(order.error, `For example: POST …/${what}?${examples[what]}`);
    const ordered = await useFleet(context, (fleet) => fleet.order(order.value));
    return ordered.ok ? answerOf(ordered.value, request) : refuse(ordered.error);
  });
}

// Nobody who has mistyped something shall paste a repair.
const examples: Readonly<Record<Order["what"], string>> = {
  scan: "wait=60",
  probe: "wait=60",
  repair: "dryRun=true&wait=60",
};

async function readOrder(request: HttpRequest, what: Order["what"]): Promise<Result<Order, string>> {
  const query = readQuery(request, what === "repair" ? ["wait", "dryRun"] : ["wait"]);
  if (!query.ok) return query;
  const { wait = "0", dryRun = "false" } = query.value;
  // Its upper bound is the fleet's.
  if (!/^\d{1,6}$/.test(wait)) return failure("wait must be a whole number of seconds.");
  if (dryRun !== "true" && dryRun !== "false") return failure("dryRun must be true or false.");
  // Some clients cannot leave it out.
  if (!["", "{}"].includes((await request.text()).trim()))
    return failure("An order has no body: what it says stands in the query.");
  const cluster = request.params.cluster ?? "";
  return success({
    cluster,
    what,
    dryRun: dryRun === "true",
    waitSeconds: Number(wait),
    caller: callerOf(request, process.env),
  });
}

/** The answer to an order that was accepted. */
export function answerOf({ cluster, run, report }: Ordered, { url }: Pick<HttpRequest, "url">): HttpResponseInit {
  if (report !== undefined) return json(200, { run, report });
  const status = new URL(`/api/clusters/${cluster}?run=${run}`, url).href;
  return json(202, { run, status }, { location: status, "retry-after": "5" });
}
