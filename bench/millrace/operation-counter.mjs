/**
 * A module that `--import` loads into a node before the program. It counts the node's calls to Redis and to the store.
 * On SIGUSR2 it writes the counts since the start, by kind, to the file that BENCH_OPERATIONS names.
 */
import { renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";

const file = process.env.BENCH_OPERATIONS;
const counts = {};
const count = (kind) => (counts[kind] = (counts[kind] ?? 0) + 1);

/** Calls `act` with the object and the arguments before each call of the method. */
function before(prototype, method, act) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    act(this, ...args);
    return original.apply(this, args);
  };
}

const require = createRequire(import.meta.url);
const { DatabaseSync } = process.getBuiltinModule("node:sqlite") ?? require("@photostructure/sqlite");
const database = new DatabaseSync(":memory:");
const Statement = Object.getPrototypeOf(database.prepare("SELECT 1"));
database.close();
const firstWord = (sql) => sql.trim().split(/\s/, 1)[0].toUpperCase();
before(DatabaseSync.prototype, "exec", (_, sql) => count(`SQLite ${firstWord(sql)}`));
for (const method of ["run", "get", "all"]) before(Statement, method, () => count(`SQLite ${method}`));

before(Redis.prototype, "sendCommand", (_, { name }) => count(`Redis ${name.toLowerCase()}`));

before(MongoClient.prototype, "connect", (client) => {
  client.monitorCommands = true;
  client.on("commandStarted", ({ commandName }) => count(`MongoDB ${commandName}`));
});

process.on("SIGUSR2", () => {
  writeFileSync(`${file}.new`, JSON.stringify(counts));
  renameSync(`${file}.new`, file);
});
