/** The message loop for content that agents send in pieces: artifacts and cache entries. */
import { MillraceError } from "../domain/errors.ts";
import type { Duplex } from "./calls.ts";

/** A content that is being received. */
export interface Ingest {
  readonly id: string;
  /** Bytes that are stored. The agent sends the next piece from this offset. */
  readonly storedBytes: number;
  append(offset: number, piece: Uint8Array): Promise<void>;
  /** Stores what was appended so that the agent can continue at another gateway. */
  flush(): Promise<void>;
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
 * Receives `begin`, pieces and `commit`, one message after the other, so that a slow store holds the agent back. Resolves
 * with the id of the stored content, or undefined when the agent ended the call before `commit`. Throws
 * `malformed_request` for messages in another order.
 */
export async function receiveContent<Begin>(
  { requests, write }: Pick<Duplex<SentContent<Begin>, Stored>, "requests" | "write">,
  begin: (value: Begin) => Promise<Ingest>,
): Promise<string | undefined> {
  const received: { ingest?: Ingest } = {};
  try {
    const id = await receiveMessages(requests, write, received, begin);
    if (id === undefined) await received.ingest?.flush();
    return id;
  } catch (error) {
    // The agent hears why the call ended, and where to continue when it begins again.
    await received.ingest?.flush().catch(() => {});
    throw error;
  }
}

async function receiveMessages<Begin>(
  requests: Duplex<SentContent<Begin>, Stored>["requests"],
  write: Duplex<SentContent<Begin>, Stored>["write"],
  received: { ingest?: Ingest },
  begin: (value: Begin) => Promise<Ingest>,
): Promise<string | undefined> {
  let ingest: Ingest | undefined;
  for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
    const { message } = next.value;
    if (message?.$case === "begin" && ingest === undefined) {
      received.ingest = ingest = await begin(message.value);
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
  return new MillraceError("malformed_request", `a message out of order: the order is ${order}`);
}
