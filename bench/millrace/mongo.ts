/** MongoDB for millrace: a real one when there is one, else the server of the tests, which takes no time that counts. */
import { MongoClient } from "mongodb";
import { freshDatabase, startTestMongo } from "../../test/support/mongo.ts";

export interface Mongo {
  /** False for a server that speaks the protocol alone: what it is asked can be counted, how long that takes says nothing. */
  readonly real: boolean;
  /** Of a node, with a database that nobody else uses. */
  readonly env: () => Readonly<Record<string, string>>;
}

/** Every node of an installation on MongoDB must be given the same. */
const SIGNING_KEY = "a-signing-key-for-the-benchmark-alone";
const MASTER_KEY = "0123456789abcdef".repeat(4);

/** Rejects when no server can be had; `stopTestMongo` ends it. */
export async function startMongo(): Promise<Mongo> {
  const { url } = await startTestMongo();
  const shared = { MONGODB_URL: url, MILLRACE_SIGNING_KEY: SIGNING_KEY, MILLRACE_MASTER_KEY: MASTER_KEY };
  return { real: await isReal(url), env: () => ({ ...shared, MONGODB_DATABASE: freshDatabase() }) };
}

/** By its storage engine, which the others do not name. */
async function isReal(url: string): Promise<boolean> {
  const client = new MongoClient(url);
  try {
    const { storageEngine } = await client.db("admin").command({ serverStatus: 1 });
    return storageEngine !== undefined;
  } finally {
    await client.close();
  }
}
