/** Parses large documents in pieces. The driver parses each document at once, which holds the event loop for one of many actors. */
import { BSON, type Document } from "mongodb";

const { onDemand, deserialize } = BSON;

/** Bytes of a document's length, which comes first, and of the zero at its end. */
const LENGTH_BYTES = 4;
const END_BYTES = 1;
/** Fields that are parsed between two pauses. */
const FIELDS_AT_ONCE = 50;

/** The document in `bytes`. Its field `large` is a document itself, whose fields are parsed one by one. */
export async function parsedInPieces<T extends Document>(
  bytes: Uint8Array,
  large: string,
  pause: () => Promise<void>,
): Promise<T> {
  const others: Uint8Array[] = [];
  let field: Record<string, unknown> | undefined;
  for (const element of onDemand.parseToElements(bytes)) {
    const [, nameOffset, nameLength, offset, length] = element;
    const name = Buffer.from(bytes.subarray(nameOffset, nameOffset + nameLength)).toString();
    // One byte before the name tells the type.
    if (name === large) field = await fieldsOf(bytes.subarray(offset, offset + length), pause);
    else others.push(bytes.subarray(nameOffset - 1, offset + length));
  }
  const rest = deserialize(documentOf(others));
  return { ...rest, ...(field !== undefined && { [large]: field }) } as unknown as T;
}

async function fieldsOf(bytes: Uint8Array, pause: () => Promise<void>): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  let count = 0;
  for (const [, nameOffset, , offset, length] of onDemand.parseToElements(bytes)) {
    Object.assign(fields, deserialize(documentOf([bytes.subarray(nameOffset - 1, offset + length)])));
    if (++count % FIELDS_AT_ONCE === 0) await pause();
  }
  return fields;
}

function documentOf(elements: readonly Uint8Array[]): Uint8Array {
  const bytes = elements.reduce((sum, { length }) => sum + length, LENGTH_BYTES + END_BYTES);
  const document = Buffer.concat([Buffer.alloc(LENGTH_BYTES), ...elements, Buffer.alloc(END_BYTES)]);
  document.writeInt32LE(bytes, 0);
  return document;
}
