/**
 * The connection to MongoDB. Only what every server with this wire protocol has is used: atomic updates of one document,
 * unique and compound indexes, upserts. No transactions, sessions or change streams.
 */
import {
  type Collection,
  type Db,
  type Document,
  MongoClient,
  MongoError,
  MongoNetworkError,
  MongoServerSelectionError,
  ReadPreference,
} from "mongodb";
import { MillraceError } from "../../domain/errors.ts";

/** A document whose id is a string of ours. */
export interface Keyed extends Document {
  _id: string;
}

export interface MongoOptions {
  readonly url: string;
  /** Defaults to the one in the URL, else `millrace`. */
  readonly database?: string;
}

/** How long a call waits for a reachable server, milliseconds. */
const SELECTION_TIMEOUT_MS = 5_000;
/** Error number of a unique index that is violated. */
const DUPLICATE_KEY = 11_000;

/** Version of the documents that this program writes; a newer one in the store refuses to open. */
export const STORE_SCHEMA = 1;

export class Connection {
  readonly #client: MongoClient;
  readonly #db: Db;

  private constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#db = db;
  }

  /** Connects; rejects with `unavailable` when no server answers in time. */
  static async open({ url, database }: MongoOptions): Promise<Connection> {
    const client = new MongoClient(url, {
      serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
      connectTimeoutMS: SELECTION_TIMEOUT_MS,
      writeConcern: { w: "majority" },
      readPreference: ReadPreference.primary,
      ignoreUndefined: true,
    });
    try {
      await client.connect();
      await client.db("admin").command({ ping: 1 });
    } catch (error) {
      await client.close().catch(() => undefined);
      throw translate(error);
    }
    const named = new URL(url.replace(/^mongodb(\+srv)?:/, "http:").replace(/,[^/]*/, "")).pathname.slice(1);
    return new Connection(client, client.db(database ?? (named || "millrace")));
  }

  collection(name: string): Collection<Keyed> {
    return this.#db.collection<Keyed>(name);
  }

  async ping(): Promise<void> {
    await guard(() => this.#db.command({ ping: 1 }));
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** Runs a call; an unreachable server becomes `unavailable`. */
export async function guard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translate(error);
  }
}

/** Inserts unless a unique index says that it is there; answers whether it was inserted. */
export async function insertIfAbsent(collection: Collection<Keyed>, document: Keyed): Promise<boolean> {
  return guard(async () => {
    try {
      await collection.insertOne(document);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  });
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoError && error.code === DUPLICATE_KEY;
}

function translate(error: unknown): unknown {
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) {
    return new MillraceError("unavailable", "MongoDB cannot be reached: check MONGODB_URL and that the server runs", {
      cause: error,
    });
  }
  return error;
}
