/** The program of a thread of {@link Threads}: it performs one task after the other and answers each in JSON. */
import { isDeepStrictEqual } from "node:util";
import { parentPort } from "node:worker_threads";
import type { Definition } from "../definition/definition.ts";
import { type DefinitionText, performTask, readDefinition, type Tasks } from "./tasks.ts";

export interface Request<Name extends keyof Tasks = keyof Tasks> {
  readonly name: Name;
  readonly input: Tasks[Name]["input"];
}

/** `json`: the result. `failed`: the stack of the error of a task that should not fail. */
export type Response = { readonly json: string } | { readonly failed: string };

/** The definition that was planned last: a large pipeline is triggered again, and reading it costs more than planning. */
let last: (DefinitionText & { readonly definition: Definition }) | null = null;

function read({ text, format, includes }: DefinitionText): Definition {
  if (last?.text !== text || last.format !== format || !isDeepStrictEqual(last.includes, includes)) {
    // Before the next one is read: two of the largest would take twice the memory.
    last = null;
    last = { text, format, includes, definition: readDefinition({ text, format, includes }) };
  }
  return last.definition;
}

parentPort?.on("message", ({ name, input }: Request) => {
  let response: Response;
  try {
    response = { json: JSON.stringify(performTask(name, input, read)) };
  } catch (error) {
    response = { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  parentPort!.postMessage(response);
});
