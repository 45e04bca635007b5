/** The search for secrets in everything that an installation has stored, written or shown. */
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import type { Installation } from "../world/installation.ts";
import type { Scan } from "./secret-search.ts";
import { SqliteConnection } from "../../../src/sqlite/connection.ts";

/** Scans the store, Redis, and the files, outputs and metrics of all processes. The processes must still run. */
export async function scanInstallation(installation: Installation, scan: Scan): Promise<void> {
  const { mongoDatabase, storeFile, folder, nodes, agents } = installation;
  if (mongoDatabase === null) scanSqlite(storeFile, scan);
  else await scanMongo(mongoDatabase, scan);
  for (const redis of await connectAll(installation)) {
    await scanRedis(redis, scan).finally(() => redis.disconnect());
  }
  await scanFolder("", folder, scan);
  for (const node of nodes) {
    scan(`the output of ${node.name}`, node.output);
    const hasMetrics = node.isRunning && !agents.some(({ name }) => name === node.name);
    if (hasMetrics) await scanMetrics(node.name, node.metricsAddress, scan);
  }
}

/**
 * Scans every row of every table. Then moves the write-ahead log into the file, so that a scan of the folder finds
 * deleted rows too.
 */
export function scanSqlite(file: string, scan: Scan): void {
  const store = new SqliteConnection(file);
  try {
    const tables = store.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    for (const { name } of tables) {
      const rows = store.prepare(`SELECT * FROM "${name}"`).all() as object[];
      for (const row of rows.map((found) => Object.values(found) as unknown[])) {
        for (const field of row) scan(`table ${name}`, bytesOf(field), String(row[0]));
      }
    }
    store.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } finally {
    store.close();
  }
}

/** Scans the bytes of every document of every collection. */
export async function scanMongo(
  { url, name }: { readonly url: string; readonly name: string },
  scan: Scan,
): Promise<void> {
  const client = new MongoClient(url);
  try {
    for (const collection of await client.db(name).collections()) {
      const documents = collection.find<Buffer>({}, { raw: true });
      for await (const document of documents) scan(`collection ${collection.collectionName}`, document);
    }
  } finally {
    await client.close();
  }
}

/** Scans every key, its value, and the files of the server. */
export async function scanRedis(redis: Redis, scan: Scan): Promise<void> {
  for (const key of await redis.keysBuffer("*")) {
    const place = `Redis key ${key.toString()}`;
    scan(place, key);
    for (const bytes of await contentOf(redis, key)) scan(place, bytes);
  }
  const [, folder] = (await redis.config("GET", "dir")) as [string, string];
  await scanFolder("Redis' ", folder, scan);
}

/** Scans all files in the folder and in its subfolders. */
export async function scanFolder(owner: string, folder: string, scan: Scan): Promise<void> {
  for (const file of await filesIn(folder)) {
    const path = join(file.parentPath, file.name);
    // A file that is removed during the scan holds nothing any more.
    const content = await readFile(path).catch(() => null);
    if (content !== null) scan(`${owner}file ${relative(folder, path)}`, content);
  }
}

/** Scans the metrics page of a node. Throws when the node does not answer with 200. */
export async function scanMetrics(node: string, address: string, scan: Scan): Promise<void> {
  const answer = await fetch(`http://${address}/metrics`);
  if (answer.status !== 200) throw new Error(`the metrics of ${node} were answered with ${answer.status}`);
  scan(`the metrics of ${node}`, await answer.text());
}

async function contentOf(redis: Redis, key: Buffer): Promise<readonly Buffer[]> {
  switch (await redis.type(key)) {
    case "string":
      return buffersIn(await redis.getBuffer(key));
    case "hash":
      return Object.entries(await redis.hgetallBuffer(key)).flatMap(([name, value]) => [Buffer.from(name), value]);
    case "list":
      return redis.lrangeBuffer(key, 0, -1);
    case "set":
      return redis.smembersBuffer(key);
    case "zset":
      return redis.zrangeBuffer(key, 0, "-1");
    case "stream":
      return buffersIn(await redis.xrangeBuffer(key, "-", "+"));
    case "none":
      return []; // The key has expired.
    case "unknown":
    default:
      throw new Error(`Redis holds a key ${key.toString()} of a type that is not searched`);
  }
}

function buffersIn(content: unknown): readonly Buffer[] {
  if (Buffer.isBuffer(content)) return [content];
  return Array.isArray(content) ? content.flatMap(buffersIn) : [];
}

/** One connection to each Redis server. */
async function connectAll({ redis, cluster, folder }: Installation): Promise<readonly Redis[]> {
  if (redis !== null) return [new Redis(redis.url)];
  if (cluster !== null) return cluster.nodes.map(({ port }) => new Redis({ host: "127.0.0.1", port }));
  const all = await readdir(folder, { recursive: true, encoding: "utf8" });
  const socket = all.find((path) => path.endsWith("redis.sock"));
  if (socket === undefined) throw new Error(`the embedded Redis has no socket in ${folder}`);
  return [new Redis({ path: join(folder, socket) })];
}

async function filesIn(folder: string): Promise<readonly Dirent[]> {
  return (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
}

function bytesOf(field: unknown): Buffer | string {
  return field instanceof Uint8Array ? Buffer.from(field) : String(field);
}
