// Output bindings of queues: writes what an invocation left in them, after it succeeded. An array is one message per
// element (functions-bindings-storage-queue-output).
import type { QueueClient } from "@azure/storage-queue";
import type { InvocationResponse, TypedData } from "./core-types.ts";
import type { HostedFunction, QueueOutput } from "./functions-of-app.ts";
import { encodeMessage, type MessageEncoding } from "./queue-text.ts";

export type OpenQueue = (connection: string, queueName: string) => QueueClient;

/** Throws where the storage cannot be reached: the invocation fails then, as on Azure. */
export async function writeQueueOutputs(
  hosted: HostedFunction,
  response: InvocationResponse,
  open: OpenQueue,
  encoding: MessageEncoding,
): Promise<void> {
  for (const output of hosted.queueOutputs) {
    const data = dataOf(output, response);
    if (data === undefined) continue;
    const queue = open(output.connection, output.queueName);
    await queue.createIfNotExists();
    for (const text of textsOf(data)) await queue.sendMessage(encodeMessage(text, encoding));
  }
}

function dataOf(output: QueueOutput, response: InvocationResponse): TypedData | undefined {
  if (output.binding === "$return") return response.returnValue ?? undefined;
  return response.outputData?.find(({ name }) => name === output.binding)?.data;
}

function textsOf(data: TypedData): readonly string[] {
  if (data.json !== undefined) {
    const value: unknown = JSON.parse(data.json);
    if (!Array.isArray(value)) return [data.json];
    return value.map((one: unknown) => (typeof one === "string" ? one : JSON.stringify(one)));
  }
  if (data.bytes !== undefined) return [Buffer.from(data.bytes).toString("utf8")];
  return [data.string ?? String(data.int ?? data.double)];
}
