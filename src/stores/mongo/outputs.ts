/** Outputs of steps in MongoDB. */
import type { OutputStore, StepOutputs } from "../outputs.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface OutputsDocument extends StepOutputs {
  readonly _id: string;
}

/** How many documents are asked for at once: what is asked has a bounded size, however many steps a run has. */
const KEYS_A_CALL = 500;

export function outputStore(connection: Connection): OutputStore {
  const collection = connection.collection<OutputsDocument>("step_outputs");
  return {
    async put(outputs) {
      const { runId, stepRunId, token, values } = outputs;
      await insertIfAbsent(collection, { _id: idOf(outputs), runId, stepRunId, token, values });
    },
    async find(keys) {
      const found: StepOutputs[] = [];
      const ids = [...new Set(keys.map(idOf))];
      for (let at = 0; at < ids.length; at += KEYS_A_CALL) {
        const $in = ids.slice(at, at + KEYS_A_CALL);
        found.push(...(await collection.find({ _id: { $in } }, { projection: { _id: 0 } }).toArray()));
      }
      return found;
    },
  };
}

function idOf({ stepRunId, token }: Pick<StepOutputs, "stepRunId" | "token">): string {
  return `${stepRunId}/${token}`;
}
