/** What a turn sends to the store, and how large a run in MongoDB becomes, whatever the size of the run. */
import { expect } from "chai";
import { eventsOf } from "../../actors/kernel/performer.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { versionedStores } from "../../src/node/stores.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { Database } from "../../src/stores/sqlite/database.ts";
import { LargeRun } from "../support/large-runs.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { planOf, retryOf } from "../support/plans.ts";
import { openTestSqlite } from "../support/stores.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

const SIZES = [100, 1_000];
const ATTEMPTS = 4;
/** What ids, numbers with more digits and the driver's own messages may add. */
const SLACK = 2_000;

const versioned = (stores: Stores): Stores => versionedStores(stores, STORED_FORMAT, () => STORED_FORMAT.schema);

interface Engine {
  readonly stores: Stores;
  /** Bytes sent to the store so far. */
  sent(): number;
  close(): Promise<void>;
}

/** A run whose turns are saved one by one. */
class StoredRun {
  readonly run: LargeRun;
  readonly #stores: Stores;
  readonly #turns: Parameters<LargeRun["onSaved"]>[] = [];
  #version = 1;

  private constructor(stores: Stores, run: LargeRun) {
    this.#stores = stores;
    this.run = run;
    run.onSaved = (...turn) => void this.#turns.push(turn);
  }

  /** Stores a run as it is after many turns. `apart`: what has left its snapshot, and what a change would not write. */
  static async create(stores: Stores, run: LargeRun, apart: ReadonlySet<string>): Promise<StoredRun> {
    const { head, actors } = run.snapshot;
    await stores.aggregates.create({
      head: { ...head, owed: [] },
      actors: actors.filter(({ id }) => !apart.has(id)),
    });
    return new StoredRun(stores, run);
  }

  /** Saves the turns that were taken since. */
  async save(): Promise<void> {
    for (const [head, changed, ended] of this.#turns.splice(0)) {
      const expectedVersion = this.#version++;
      const { aggregates } = this.#stores;
      const saved = await aggregates.save({
        expectedVersion,
        head: { ...head, version: this.#version },
        changed,
        events: eventsOf(head, head.owed),
        ...(aggregates.keepsEndedApart && ended.length > 0 && { ended }),
      });
      expect(saved).to.equal("saved");
    }
  }
}

/** A run whose jobs have lost their agents until no attempt is left, but for one job, which is still queued. */
function usedUp(jobs: number): { readonly run: LargeRun; readonly apart: ReadonlySet<string> } {
  const run = new LargeRun(planOf([Array.from({ length: jobs }, () => ({ retry: retryOf(ATTEMPTS) }))]));
  const apart = new Set<string>();
  run.onSaved = (_head, _changed, ended) => {
    for (const { id } of ended) apart.add(id);
  };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const [, ...others] = run.jobs("queued");
    run.claim(others);
    run.loseAgents(others);
  }
  // One more turn, so that what ended last leaves the snapshot too.
  run.command("pause");
  run.command("resume");
  return { run, apart };
}

/** Bytes of each kind of turn of the job that is left. */
async function turnsOfLastJob(stored: StoredRun, engine: Engine): Promise<Readonly<Record<string, number>>> {
  const { run } = stored;
  const bytes: Record<string, number> = {};
  const measure = async (what: string, turn: () => void): Promise<void> => {
    turn();
    const before = engine.sent();
    await stored.save();
    bytes[what] = engine.sent() - before;
  };
  await measure("claim", () => run.claim(run.jobs("queued")));
  await measure("retry", () => run.loseAgents(run.jobs("running")));
  await measure("next claim", () => run.claim(run.jobs("queued")));
  await measure("end", () => run.report(run.heldSteps(), "succeeded"));
  return bytes;
}

const ENGINES: Readonly<Record<string, () => Promise<Engine>>> = {
  async SQLite() {
    const { stores, close } = await openTestSqlite();
    const database = Database.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = database["runNow"]!;
    let sent = 0;
    database["runNow"] = function (this: Database, sql, ...values) {
      for (const value of [sql, ...values]) sent += typeof value === "string" ? Buffer.byteLength(value) : 8;
      return original.call(this, sql, ...values);
    };
    return {
      stores: versioned(stores),
      sent: () => sent,
      async close() {
        database["runNow"] = original;
        await close();
      },
    };
  },
  async MongoDB() {
    const proxy = await TcpProxy.start(Number(new URL((await startTestMongo()).url).port));
    const stores = await openMongoStores({ url: `mongodb://127.0.0.1:${proxy.port}`, database: freshDatabase() });
    return {
      stores: versioned(stores),
      sent: () => proxy.sentBytes,
      async close() {
        await stores.close();
        await proxy.close();
      },
    };
  },
};

for (const [name, open] of Object.entries(ENGINES)) {
  describe(`a turn of a run whose jobs have used up their attempts, on ${name}`, function () {
    this.timeout(300_000);

    it("sends as many bytes for a run of 1,000 jobs as for one of 100", async () => {
      const found: Record<string, number>[] = [];
      for (const jobs of SIZES) {
        const engine = await open();
        try {
          const { run, apart } = usedUp(jobs);
          const stored = await StoredRun.create(engine.stores, run, apart);
          found.push({ ...(await turnsOfLastJob(stored, engine)) });
        } finally {
          await engine.close();
        }
      }
      if (process.env["MILLRACE_TEST_FIGURES"]) console.log(name, JSON.stringify(found));
      const [least, ...larger] = found;
      for (const turns of larger) {
        for (const [what, bytes] of Object.entries(turns)) {
          expect(bytes, what).to.be.at.most(least![what]! + SLACK);
        }
      }
    });
  });
}
