/**
 * The connection to MongoDB. Only what every server with this wire protocol has is used: atomic updates of one document,
 * unique and compound indexes, upserts. No transactions, explicit sessions or change streams.
 */
import {
  type Collection,
  type Db,
  type Document,
  MongoBulkWriteError,
  MongoClient,
  MongoError,
  MongoErrorLabel,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type OneOrMore,
  type WriteError,
} from "mongodb";
import { MillraceError } from "../../domain/errors.ts";
import { mendConnections } from "./driver-connection.ts";

/** A document whose id is a string of ours. */
export interface Keyed extends Document {
  _id: string;
}

export interface MongoOptions {
  readonly url: string;
  /** Defaults to `millrace`. */
  readonly database?: string;
}

/** How long a call waits for a server that can take it, milliseconds. */
const SELECTION_TIMEOUT_MS = 5_000;
/**
 * Between two looks at the server, milliseconds. One that does not answer a look within the connect timeout counts as
 * gone, and calls that wait for it are ended; calls have no other timeout, since an index may take long to make.
 */
const HEARTBEAT_MS = 5_000;

/** Numbers of the server's errors. Source: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const DUPLICATE_KEY = 11_000;
const REFUSED_USER = [13, 18];
const NO_PRIMARY_NOW = [91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436];

mendConnections();

export class Connection {
  readonly #client: MongoClient;
  readonly #db: Db;

  private constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#db = db;
  }

  /** Rejects with `unavailable` when no server answers in time. */
  static async open({ url, database = "millrace" }: MongoOptions): Promise<Connection> {
    const client = connectionTo(url);
    try {
      await client.connect();
      return new Connection(client, client.db(database));
    } catch (error) {
      await client.close().catch(() => undefined);
      throw translateFault(error);
    }
  }

  collection<T extends { _id: string } = Keyed>(name: string): Collection<T> {
    return this.#db.collection<T>(name);
  }

  async ping(): Promise<void> {
    await this.#db.command({ ping: 1 });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** The same store; what its calls reject with is translated. */
export function translated<T extends object>(store: T): T {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        try {
          return (await Reflect.apply(member, target, args)) as unknown;
        } catch (error) {
          throw translateFault(error);
        }
      };
    },
  });
}

/** Inserts unless a unique index says that it is there; answers whether it was inserted. */
export async function insertIfAbsent<T extends { _id: string }>(
  collection: Collection<T>,
  document: T,
): Promise<boolean> {
  try {
    await collection.insertOne(document as never);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Inserts those documents whose ids are not taken. */
export async function insertAbsent(collection: Collection<Keyed>, documents: readonly Keyed[]): Promise<void> {
  if (documents.length === 0) return;
  try {
    await collection.insertMany([...documents], { ordered: false });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

/** True when nothing but unique indexes stood against a write; of a bulk write, against each of those that failed. */
export function isDuplicateKey(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError) {
    const failed = [error.writeErrors as OneOrMore<WriteError>].flat();
    return (
      failed.length > 0 && failed.every(({ code }) => code === DUPLICATE_KEY) && !error.result.getWriteConcernError()
    );
  }
  return error instanceof MongoError && error.code === DUPLICATE_KEY;
}

function connectionTo(url: string): MongoClient {
  try {
    return new MongoClient(url, {
      serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
      connectTimeoutMS: SELECTION_TIMEOUT_MS,
      heartbeatFrequencyMS: HEARTBEAT_MS,
      writeConcern: { w: "majority" },
      readPreference: "primary",
      ignoreUndefined: true,
    });
  } catch (error) {
    if (!(error instanceof MongoError)) throw error;
    // Without the cause: its text may hold the URL, which holds a password.
    throw new MillraceError("unavailable", "MONGODB_URL cannot be used: check its form, host names and options");
  }
}

/** The same error as `unavailable` with what to do, or as it is when it is no fault of the server or the way to it. */
export function translateFault(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  const { code } = error;
  if (error instanceof MongoServerError && REFUSED_USER.includes(Number(code))) {
    return new MillraceError(
      "unavailable",
      "MongoDB refuses the user of MONGODB_URL: check its name, its password and that it may read and write the database",
      { cause: error },
    );
  }
  if (!isOutage(error)) return error;
  return new MillraceError("unavailable", "MongoDB cannot be reached: check MONGODB_URL and that the server runs", {
    cause: error,
  });
}

/** True when the same call may succeed later. What was to be written may have been stored, or may yet be. */
function isOutage(error: MongoError): boolean {
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNetworkError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoWriteConcernError ||
    isCutBulkWrite(error) ||
    error.hasErrorLabel(MongoErrorLabel.RetryableWriteError) ||
    NO_PRIMARY_NOW.includes(Number(error.code))
  );
}

/** The driver reports what befalls the connection of a bulk write as an error of the bulk, without the class it had. */
function isCutBulkWrite(error: MongoError): boolean {
  return error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0;
}
