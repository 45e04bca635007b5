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

/** The class of a binding, with its calls counted. Of the package, the methods themselves cannot be replaced. */
function counted(DatabaseSync) {
  return class extends DatabaseSync {
    exec(sql) {
      count(`SQLite ${sql.trim().split(/\s/, 1)[0].toUpperCase()}`);
      return super.exec(sql);
    }

    prepare(...args) {
      const statement = super.prepare(...args);
      for (const method of ["run", "get", "all"]) {
        const value = (...values) => {
          count(`SQLite ${method}`);
          return Object.getPrototypeOf(statement)[method].apply(statement, values);
        };
        Object.defineProperty(statement, method, { value });
      }
      return statement;
    }
  };
}

// The program chooses one of the two bindings, so both are counted.
const builtIn = process.getBuiltinModule("node:sqlite");
if (builtIn !== undefined) builtIn.DatabaseSync = counted(builtIn.DatabaseSync);
const require = createRequire(import.meta.url);
const fromPackage = require("@photostructure/sqlite");
require.cache[require.resolve("@photostructure/sqlite")].exports = {
  ...fromPackage,
  DatabaseSync: counted(fromPackage.DatabaseSync),
};

before(Redis.prototype, "sendCommand", (_, { name }) => count(`Redis ${name.toLowerCase()}`));

before(MongoClient.prototype, "connect", (client) => {
  client.monitorCommands = true;
  client.on("commandStarted", ({ commandName }) => count(`MongoDB ${commandName}`));
});

process.on("SIGUSR2", () => {
  writeFileSync(`${file}.new`, JSON.stringify(counts));
  renameSync(`${file}.new`, file);
});
