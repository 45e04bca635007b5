/**
 * The connection to MongoDB. The adapter uses only what every server with this wire protocol has: atomic updates of one
 * document, unique and compound indexes, and upserts. It uses no transactions, explicit sessions or change streams.
 */
import type { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Collection,
  type Db,
  type Document,
  MongoBulkWriteError,
  MongoClient,
  type MongoClientOptions,
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
import { EVERY_CALL, readConcern } from "./cluster/concerns.ts";
import { type CollectionName, shardKeyOf } from "./cluster/sharding.ts";

/** A document whose id is a string that millrace chooses. */
export interface Keyed extends Document {
  _id: string;
}

export interface MongoOptions {
  readonly url: string;
  /** Defaults to `millrace`. */
  readonly database?: string;
  /** The database must have the shape of this version: it is not migrated. The caller only reads. */
  readonly readOnly?: boolean;
  /**
   * Milliseconds that a call may wait for its answer; 60,000 by default. 0, for any time, is for work that changes whole
   * collections or builds indexes. An option `socketTimeoutMS` of the URL takes its place.
   */
  readonly answerTimeoutMs?: number;
}

/** How long a call waits for an available server, milliseconds. */
const SELECTION_TIMEOUT_MS = 5_000;
/**
 * Time between two of the driver's checks of the server, milliseconds. A server that does not answer a check within the
 * connect timeout counts as gone, and the calls that wait for it fail.
 */
const HEARTBEAT_MS = 5_000;
/**
 * How long a call may wait for an answer, milliseconds. The checks of the server have a connection of their own, and do not
 * notice that the connection of a call carries nothing any more. What such a call writes may be stored all the same, as when
 * its connection is cut. The longest calls of a node remove what one run has stored.
 */
const ANSWER_TIMEOUT_MS = 60_000;
/** How long a call may wait for one of the connections, milliseconds; new ones are made two at a time. */
const CONNECTION_TIMEOUT_MS = 30_000;

/** How long a record that the primary has may take to reach a majority, milliseconds. */
const MAJORITY_TIMEOUT_MS = 10_000;
/** Attempts to insert a document whose duplicate disappears each time. */
const INSERT_ATTEMPTS = 3;

/**
 * Numbers of the server's errors. Source: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const DUPLICATE_KEY = 11_000;
const REFUSED_USER = [13, 18];
const NO_PRIMARY_NOW = [91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436];

/** The name of the driver's error for a call that got no connection in time. The driver does not export its class. */
const NO_CONNECTION = "MongoWaitQueueTimeoutError";

patchDriverConnections();

export class Connection {
  readonly #client: MongoClient;
  readonly #db: Db;

  private constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#db = db;
  }

  /** Rejects with `unavailable` when no server answers in time. */
  static async open(options: MongoOptions): Promise<Connection> {
    const { url, database = "millrace", answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
    const client = connectionTo(url, boundsBeside(url, answerTimeoutMs));
    try {
      await client.connect();
      return new Connection(client, client.db(database));
    } catch (error) {
      await client.close().catch(() => undefined);
      throw translateFault(error);
    }
  }

  collection<T extends { _id: string } = Keyed>(name: CollectionName): Collection<T> {
    return this.#db.collection<T>(name);
  }

  async ping(): Promise<void> {
    await this.#db.command({ ping: 1 });
  }

  /**
   * Updates a document to what it is already. A primary that has lost the majority answers reads and pings for some
   * seconds, but not this update, which waits for the majority.
   */
  async probe(): Promise<void> {
    await this.collection("settings").updateOne({ _id: "STORE_PROBE" }, { $set: { value: "1" } }, { upsert: true });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** The same store with translated errors: each call rejects with what {@link translateFault} makes of its error. */
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

/**
 * Inserts a document unless a unique index refuses it as a duplicate; answers true when it was inserted. Answers false
 * only when a majority of the replica set has the document with this id, or another unique index refused it: a
 * duplicate that only the primary has may be rolled back. Rejects with `unavailable` when the majority does not get it.
 */
export async function insertIfAbsent<T extends { _id: string }>(
  collection: Collection<T>,
  document: T,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await collection.insertOne(document as never);
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if (isOfOtherIndex(error)) return false;
      if ((await untilMajorityHas(collection, [document])) === "stored" || attempt === INSERT_ATTEMPTS) return false;
      // The document was removed or rolled back in between.
    }
  }
}

/** Inserts the documents whose ids are not taken; the others are stored by a majority, as in {@link insertIfAbsent}. */
export async function insertAbsent(collection: Collection<Keyed>, documents: readonly Keyed[]): Promise<void> {
  if (documents.length === 0) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await collection.insertMany([...documents], { ordered: false });
      return;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if ((await untilMajorityHas(collection, documents)) === "stored" || attempt === INSERT_ATTEMPTS) return;
    }
  }
}

/**
 * Resolves when a majority of the replica set has the documents with these ids; with `gone` when the primary does not
 * have all of them. Rejects with `unavailable` when the majority does not get them within `withinMs` milliseconds.
 */
export async function untilMajority<T extends { _id: string }>(
  collection: Collection<T>,
  ids: readonly string[],
  withinMs = MAJORITY_TIMEOUT_MS,
): Promise<"stored" | "gone"> {
  return untilMajorityHas(
    collection,
    ids.map((_id) => ({ _id })),
    withinMs,
  );
}

/** The same for documents with all of their fields. */
async function untilMajorityHas<T extends { _id: string }>(
  collection: Collection<T>,
  documents: readonly { readonly _id: string }[],
  withinMs = MAJORITY_TIMEOUT_MS,
): Promise<"stored" | "gone"> {
  const ids = documents.map(({ _id }) => _id);
  const key = shardKeyOf(collection.collectionName);
  const keys = new Set(documents.map((document) => (document as Document)[key] as unknown));
  const filter = { _id: { $in: ids }, ...(key !== "_id" && { [key]: { $in: [...keys] } }) } as never;
  const countIn = async (level: "majority" | "local"): Promise<number> =>
    (await collection.find(filter, { projection: { _id: 1 }, ...readConcern(level) }).toArray()).length;
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 250)) {
    if ((await countIn("majority")) === ids.length) return "stored";
    if ((await countIn("local")) < ids.length) return "gone";
    if (performance.now() >= deadline) {
      throw new MillraceError(
        "unavailable",
        "MongoDB has a record on its primary only: check that a majority of the replica set works",
      );
    }
    await sleep(pauseMs);
  }
}

/**
 * True when only unique indexes refused the write. For a bulk write, true when that is so for each write that failed.
 */
export function isDuplicateKey(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError) {
    const failed = [error.writeErrors as OneOrMore<WriteError>].flat();
    return (
      failed.length > 0 && failed.every(({ code }) => code === DUPLICATE_KEY) && !error.result.getWriteConcernError()
    );
  }
  return error instanceof MongoError && error.code === DUPLICATE_KEY;
}

/** True when the server says that the duplicate is not in the index of ids. */
function isOfOtherIndex(error: unknown): boolean {
  const { keyPattern } = error as { readonly keyPattern?: Document };
  return keyPattern !== undefined && keyPattern !== null && !("_id" in keyPattern);
}

/** The bounds in time of calls, but for those that the URL sets. */
function boundsBeside(url: string, socketTimeoutMS: number): MongoClientOptions {
  const given = url.toLowerCase();
  return {
    ...(!given.includes("sockettimeoutms=") && { socketTimeoutMS }),
    ...(!given.includes("waitqueuetimeoutms=") && { waitQueueTimeoutMS: CONNECTION_TIMEOUT_MS }),
  };
}

function connectionTo(url: string, bounds: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(url, {
      ...bounds,
      serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
      connectTimeoutMS: SELECTION_TIMEOUT_MS,
      heartbeatFrequencyMS: HEARTBEAT_MS,
      ...EVERY_CALL,
      ignoreUndefined: true,
    });
  } catch (error) {
    if (!(error instanceof MongoError)) throw error;
    // The error has no cause: the text of the cause may contain the URL with its password.
    throw new MillraceError("unavailable", "MONGODB_URL cannot be used: check its form, host names and options");
  }
}

/** An `unavailable` error that says what to do, when the server or the network is at fault; else the error itself. */
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
  if (error.name === NO_CONNECTION) {
    return new MillraceError(
      "unavailable",
      "MongoDB is too slow: all connections of this node are in use; check the load of the server, or set `maxPoolSize` in MONGODB_URL",
      { cause: error },
    );
  }
  if (!isOutage(error)) return error;
  return new MillraceError("unavailable", "MongoDB cannot be reached: check MONGODB_URL and that the server runs", {
    cause: error,
  });
}

/** True when the same call may succeed later. What the call writes may be stored already, or may still be stored. */
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

/**
 * True when a bulk write lost its connection. The driver reports that as an error of the bulk write, without its own
 * class.
 */
function isCutBulkWrite(error: MongoError): boolean {
  return error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0;
}

interface DriverConnection {
  readonly closed: boolean;
  readonly socket: EventEmitter;
  cleanup: (this: DriverConnection, error: Error) => void;
}

/**
 * Patches the connections of the driver; called once, before the first client is made. The driver (its releases up to
 * 7.9.0) never answers a command whose connection closed before the command was fully sent: it waits for an `error`
 * event of the socket, and a closed socket emits none. When that command is the driver's check of the server, it is the
 * last check, and no call of the process finds a server any more. The patch emits the event when a connection closes.
 * Source: https://github.com/mongodb/node-mongodb-native/blob/v7.8.0/src/cmap/connection.ts, `writeCommand`
 */
function patchDriverConnections(): void {
  const load = createRequire(import.meta.url);
  const { prototype } = (load("mongodb/lib/cmap/connection.js") as { Connection: { prototype: DriverConnection } })
    .Connection;
  const { cleanup } = prototype;
  prototype.cleanup = function (error) {
    const wasOpen = !this.closed;
    cleanup.call(this, error);
    if (wasOpen) this.socket.emit("error", error);
  };
}
