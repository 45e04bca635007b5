/** The store of notes in MongoDB. */
import type { NoteKey, NotePlace, NoteStore, StoredNote } from "../../ports/outputs.ts";
import { type Connection, insertIfAbsent } from "../connection.ts";

interface NoteDocument extends NotePlace {
  readonly _id: string;
  readonly body: string;
}

/** How many documents one query names. */
const KEYS_A_CALL = 500;

export function noteStore(connection: Connection): NoteStore {
  const collection = connection.collection<NoteDocument>("step_notes");
  return {
    async put(note, runBytes) {
      const { runId, kind, body } = note;
      const _id = idOf(note);
      if ((await collection.findOne({ _id, runId }, { projection: { _id: 1 } })) !== null) return "stored";
      const bytes = Buffer.byteLength(body);
      const sum = collection.aggregate<{ bytes: number }>([
        { $match: { runId, kind } },
        { $group: { _id: null, bytes: { $sum: "$bytes" } } },
      ]);
      if (((await sum.next())?.bytes ?? 0) + bytes > runBytes) return "full";
      await insertIfAbsent(collection, { _id, ...keyOf(note), bytes, body });
      return "stored";
    },
    placesOf: (runId, kind) =>
      collection.find({ runId, kind }, { projection: { _id: 0, body: 0 } }).toArray() as Promise<NotePlace[]>,
    async find(keys) {
      const found: StoredNote[] = [];
      const ids = [...new Set(keys.map(idOf))];
      const runId = { $in: [...new Set(keys.map((key) => key.runId))] };
      for (let at = 0; at < ids.length; at += KEYS_A_CALL) {
        const $in = ids.slice(at, at + KEYS_A_CALL);
        for await (const document of collection.find({ _id: { $in }, runId })) {
          found.push({ ...keyOf(document), body: document.body });
        }
      }
      return found;
    },
  };
}

function keyOf({ runId, kind, stepRunId, token, part }: NoteKey): NoteKey {
  return { runId, kind, stepRunId, token, part };
}

function idOf({ runId, kind, stepRunId, token, part }: NoteKey): string {
  return `${runId}/${kind}/${stepRunId}/${token}/${part}`;
}
