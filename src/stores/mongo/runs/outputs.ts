/** The store of step outputs in MongoDB. */
import { bytesOf } from "../../../domain/outputs.ts";
import type { OutputStore, StepOutputs } from "../../ports/outputs.ts";
import { type Connection, insertIfAbsent } from "../connection.ts";

interface OutputsDocument extends StepOutputs {
  readonly _id: string;
  readonly bytes: number;
}

/** How many documents one query names: this bounds the size of a query, however many steps a run has. */
const KEYS_A_CALL = 500;

export function outputStore(connection: Connection): OutputStore {
  const collection = connection.collection<OutputsDocument>("step_outputs");
  return {
    async put(outputs, runBytes) {
      const { runId, stepRunId, token, values } = outputs;
      const _id = idOf(outputs);
      const bytes = bytesOf(values);
      if ((await collection.findOne({ _id }, { projection: { _id: 1 } })) !== null) return "stored";
      const sum = collection.aggregate<{ bytes: number }>([
        { $match: { runId } },
        { $group: { _id: null, bytes: { $sum: "$bytes" } } },
      ]);
      if (((await sum.next())?.bytes ?? 0) + bytes > runBytes) return "full";
      await insertIfAbsent(collection, { _id, runId, stepRunId, token, bytes, values });
      return "stored";
    },
    async find(keys) {
      const found: StepOutputs[] = [];
      const ids = [...new Set(keys.map(idOf))];
      for (let at = 0; at < ids.length; at += KEYS_A_CALL) {
        const $in = ids.slice(at, at + KEYS_A_CALL);
        found.push(...(await collection.find({ _id: { $in } }, { projection: { _id: 0, bytes: 0 } }).toArray()));
      }
      return found;
    },
  };
}

function idOf({ stepRunId, token }: Pick<StepOutputs, "stepRunId" | "token">): string {
  return `${stepRunId}/${token}`;
}
