/** Lets a pure function read step outputs, which only the store has. */
import { MissingOutputs, type OutputsKey, type OutputsReader } from "../../domain/outputs.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { OutputStore } from "./outputs.ts";

/**
 * Answers what `attempt` returns. `attempt` is pure: when it asks for outputs that are not read yet, they are read from
 * the store, and `attempt` is called again, until it asks for nothing more. Outputs that the store does not have are
 * empty.
 */
export async function withStepOutputs<T>(
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
