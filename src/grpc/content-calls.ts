/** Content that agents send in pieces: one message loop for whatever it is. */
import { MillraceError } from "../domain/errors.ts";
import type { Duplex } from "./calls.ts";

export interface Ingest {
  readonly id: string;
  /** From where on the agent goes on. */
  readonly storedBytes: number;
  append(offset: number, piece: Uint8Array): Promise<void>;
  commit(): Promise<void>;
}

interface SentContent<Begin> {
  readonly message?:
    | { readonly $case: "begin"; readonly value: Begin }
    | { readonly $case: "piece"; readonly value: { readonly offset: bigint; readonly data: Uint8Array } }
    | { readonly $case: "commit" }
    | undefined;
}

type Stored = { readonly message: { readonly $case: "storedBytes"; readonly value: bigint } };

/**
 * Takes `begin`, pieces, `commit`, one after the other: while the store is slow, the agent is held back. Answers the id of
 * what is there now; undefined when the agent has ended the call before. Throws `malformed_request` for another order.
 */
export async function takeContent<Begin>(
  { requests, write }: Pick<Duplex<SentContent<Begin>, Stored>, "requests" | "write">,
  begin: (value: Begin) => Promise<Ingest>,
): Promise<string | undefined> {
  let ingest: Ingest | undefined;
  for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
    const { message } = next.value;
    if (message?.$case === "begin" && ingest === undefined) {
      ingest = await begin(message.value);
    } else if (message?.$case === "piece" && ingest !== undefined) {
      await ingest.append(Number(message.value.offset), message.value.data);
    } else if (message?.$case === "commit" && ingest !== undefined) {
      await ingest.commit();
      return ingest.id;
    } else {
      throw unexpectedMessage("begin, pieces, commit");
    }
    await write({ message: { $case: "storedBytes", value: BigInt(ingest.storedBytes) } });
  }
  return undefined;
}

export function unexpectedMessage(order: string): MillraceError {
  return new MillraceError("malformed_request", `this message was not to come now: the order is ${order}`);
}
