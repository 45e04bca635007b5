/**
 * Plays every scenario in this folder on SQLite, and one of three on MongoDB: the contract of the stores compares the two.
 * `npm run scenarios` plays all on both. play.ts explains scenarios.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { RUN_EVENT_TYPES, eventProblem } from "../support/event-check.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { openTestSqlite } from "../support/stores.ts";
import { play } from "./play.ts";
import type { Scenario } from "./scenario.ts";

const FOLDER = new URL("./", import.meta.url);
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => name.replace(".yaml", ""));

const STORES: Readonly<Record<string, () => Promise<{ readonly stores: Stores; close(): Promise<void> }>>> = {
  SQLite: openTestSqlite,
  async MongoDB() {
    const { url } = await startTestMongo();
    const stores = await openMongoStores({ url, database: freshDatabase() });
    return { stores, close: () => stores.close() };
  },
};

const ON_MONGODB = process.env["SCENARIOS"] === "whole" ? NAMES : NAMES.filter((_, at) => at % 3 === 0);

const typesSeen = new Set<string>();

for (const [engine, open] of Object.entries(STORES)) {
  describe(`scenario on ${engine}`, function () {
    this.timeout(60_000);
    for (const name of engine === "MongoDB" ? ON_MONGODB : NAMES) {
      it(name.replaceAll("_", " "), async () => {
        const text = readFileSync(new URL(`${name}.yaml`, FOLDER), "utf8");
        const scenario = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as Scenario;
        const { stores, close } = await open();
        try {
          const events = await play(stores, text, scenario);
          for (const event of events) typesSeen.add(`${event.object}.${event.lifecycle}`);
          expect(
            events.flatMap((event) => eventProblem(event) ?? []),
            "events that are not as the table says",
          ).to.deep.equal([]);
        } finally {
          await close();
        }
      });
    }
  });
}

describe("the scenarios", () => {
  it("publish every type of event of runs", () => {
    expect(RUN_EVENT_TYPES.filter((type) => !typesSeen.has(type))).to.deep.equal([]);
  });
});
