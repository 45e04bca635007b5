/** Everything that an installation has kept, written or shown, for the search for secrets. */
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Redis } from "ioredis";
import Libsql from "libsql";
import { MongoClient } from "mongodb";
import type { Installation } from "../world/installation.ts";
import type { Look } from "./secret-search.ts";

/** The store, Redis, and the files, outputs and metrics of all processes, which still run. */
export async function lookEverywhere(installation: Installation, look: Look): Promise<void> {
  const { mongoDatabase, storeFile, folder, nodes, agents } = installation;
  if (mongoDatabase === null) lookIntoSqlite(storeFile, look);
  else await lookIntoMongo(mongoDatabase, look);
  for (const redis of await connectAll(installation)) {
    await lookIntoRedis(redis, look).finally(() => redis.disconnect());
  }
  await lookIntoFolder("", folder, look);
  for (const node of nodes) {
    look(`the output of ${node.name}`, node.output);
    const hasMetrics = node.isRunning && !agents.some(({ name }) => name === node.name);
    if (hasMetrics) await lookAtMetrics(node.name, node.metricsAddress, look);
  }
}

/** The rows as they are read, then all of the write-ahead log put into the file, whose bytes are those of any file. */
export function lookIntoSqlite(file: string, look: Look): void {
  const store = new Libsql(file);
  try {
    const tables = store.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    for (const { name } of tables) {
      const rows = store.prepare(`SELECT * FROM "${name}"`).raw().iterate() as Iterable<readonly unknown[]>;
      for (const row of rows) for (const field of row) look(`table ${name}`, bytesOf(field), String(row[0]));
    }
    store.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } finally {
    store.close();
  }
}

/** The bytes of every document of every collection. */
export async function lookIntoMongo(
  { url, name }: { readonly url: string; readonly name: string },
  look: Look,
): Promise<void> {
  const client = new MongoClient(url);
  try {
    for (const collection of await client.db(name).collections()) {
      const documents = collection.find<Buffer>({}, { raw: true });
      for await (const document of documents) look(`collection ${collection.collectionName}`, document);
    }
  } finally {
    await client.close();
  }
}

/** Every key with what it holds, and what the server has written to its disk. */
export async function lookIntoRedis(redis: Redis, look: Look): Promise<void> {
  for (const key of await redis.keysBuffer("*")) {
    const place = `Redis key ${key.toString()}`;
    look(place, key);
    for (const bytes of await contentOf(redis, key)) look(place, bytes);
  }
  const [, folder] = (await redis.config("GET", "dir")) as [string, string];
  await lookIntoFolder("Redis' ", folder, look);
}

/** All files in the folder and in those within it. */
export async function lookIntoFolder(owner: string, folder: string, look: Look): Promise<void> {
  for (const file of await filesIn(folder)) {
    const path = join(file.parentPath, file.name);
    // What is removed meanwhile is kept by nobody.
    const content = await readFile(path).catch(() => null);
    if (content !== null) look(`${owner}file ${relative(folder, path)}`, content);
  }
}

export async function lookAtMetrics(node: string, address: string, look: Look): Promise<void> {
  const answer = await fetch(`http://${address}/metrics`);
  if (answer.status !== 200) throw new Error(`the metrics of ${node} were answered with ${answer.status}`);
  look(`the metrics of ${node}`, await answer.text());
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
      return []; // It has expired.
    case "unknown":
    default:
      throw new Error(`Redis holds a key ${key.toString()} of a type that is not searched`);
  }
}

function buffersIn(content: unknown): readonly Buffer[] {
  if (Buffer.isBuffer(content)) return [content];
  return Array.isArray(content) ? content.flatMap(buffersIn) : [];
}

/** A connection to each server of Redis. */
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
  return Buffer.isBuffer(field) ? field : String(field);
}
