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

const firstWord = (sql) => sql.trim().split(/\s/, 1)[0].toUpperCase();
const builtIn = process.getBuiltinModule("node:sqlite");
if (builtIn === undefined) countInPackage();
else countInPrototypes(builtIn.DatabaseSync);

function countInPrototypes(DatabaseSync) {
  const database = new DatabaseSync(":memory:");
  const Statement = Object.getPrototypeOf(database.prepare("SELECT 1"));
  database.close();
  before(DatabaseSync.prototype, "exec", (_, sql) => count(`SQLite ${firstWord(sql)}`));
  for (const method of ["run", "get", "all"]) before(Statement, method, () => count(`SQLite ${method}`));
}

/** The prototypes of the package cannot be changed, so the program gets a class of the same shape that counts. */
function countInPackage() {
  const require = createRequire(import.meta.url);
  const loaded = require("@photostructure/sqlite");
  class CountingDatabase extends loaded.DatabaseSync {
    exec(sql) {
      count(`SQLite ${firstWord(sql)}`);
      return super.exec(sql);
    }

    prepare(...args) {
      const statement = super.prepare(...args);
      for (const method of ["run", "get", "all"]) {
        const original = statement[method].bind(statement);
        const value = (...values) => {
          count(`SQLite ${method}`);
          return original(...values);
        };
        Object.defineProperty(statement, method, { value });
      }
      return statement;
    }
  }
  require.cache[require.resolve("@photostructure/sqlite")].exports = { ...loaded, DatabaseSync: CountingDatabase };
}

before(Redis.prototype, "sendCommand", (_, { name }) => count(`Redis ${name.toLowerCase()}`));

before(MongoClient.prototype, "connect", (client) => {
  client.monitorCommands = true;
  client.on("commandStarted", ({ commandName }) => count(`MongoDB ${commandName}`));
});

process.on("SIGUSR2", () => {
  writeFileSync(`${file}.new`, JSON.stringify(counts));
  renameSync(`${file}.new`, file);
});
