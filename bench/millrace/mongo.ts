/**
 * MongoDB for millrace: a real server when one is available, else the Java server of the tests, whose times mean
 * nothing.
 */
import { MongoClient } from "mongodb";
import { freshDatabase, startTestMongo } from "../../test/support/mongo.ts";

export interface Mongo {
  /**
   * False for a server that only speaks MongoDB's protocol: calls to it can be counted, but their times mean nothing.
   */
  readonly real: boolean;
  /** Environment of a node, with a new database. */
  readonly env: () => Readonly<Record<string, string>>;
}

/** All nodes of an installation on MongoDB must have the same keys. */
const SIGNING_KEY = "a-signing-key-for-the-benchmark-alone";
const MASTER_KEY = "0123456789abcdef".repeat(4);

/** Rejects when no server is available. `stopTestMongo` ends the server. */
export async function startMongo(): Promise<Mongo> {
  const { url } = await startTestMongo();
  const shared = { MONGODB_URL: url, MILLRACE_SIGNING_KEY: SIGNING_KEY, MILLRACE_MASTER_KEY: MASTER_KEY };
  return { real: await isReal(url), env: () => ({ ...shared, MONGODB_DATABASE: freshDatabase() }) };
}

/** True when the server names a storage engine, as only a real MongoDB does. */
async function isReal(url: string): Promise<boolean> {
  const client = new MongoClient(url);
  try {
    const { storageEngine } = await client.db("admin").command({ serverStatus: 1 });
    return storageEngine !== undefined;
  } finally {
    await client.close();
  }
}
