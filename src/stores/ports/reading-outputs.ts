/** Between pure functions that read outputs and the store that has them. */
import { MissingOutputs, type OutputsKey, type OutputsReader } from "../../domain/outputs.ts";
import type { Pairs } from "../../domain/plan.ts";
import type { OutputStore } from "./outputs.ts";

/**
 * The answer of `attempt`, which is pure: it is called anew with what it asked for, until it asks for nothing more. What
 * the store does not have is empty.
 */
export async function readingOutputs<T>(
  store: Pick<OutputStore, "find">,
  attempt: (outputs: OutputsReader) => T,
): Promise<T> {
  const known = new Map<string, Pairs<string>>();
  const read: OutputsReader = (key) => {
    const values = known.get(idOf(key));
    if (values === undefined) throw new MissingOutputs([key]);
    return values;
  };
  for (;;) {
    try {
      return attempt(read);
    } catch (error) {
      if (!(error instanceof MissingOutputs)) throw error;
      for (const key of error.keys) known.set(idOf(key), []);
      for (const found of await store.find(error.keys)) known.set(idOf(found), found.values);
    }
  }
}

function idOf({ stepRunId, token }: OutputsKey): string {
  return `${stepRunId}/${token}`;
}
