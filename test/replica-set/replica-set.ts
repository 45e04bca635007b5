/** A real MongoDB replica set that the environment names, and the faults that can be put upon it. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Document, MongoClient } from "mongodb";

/** Reaches each member directly, also while it is no primary. */
export class ReplicaSet {
  readonly #members: readonly MongoClient[];
  readonly url: string;

  private constructor(url: string, members: readonly MongoClient[]) {
    this.url = url;
    this.#members = members;
  }

  /** Throws, and says what to do, unless MONGODB_TEST_URL names a replica set of at least three members. */
  static async fromEnvironment(): Promise<ReplicaSet> {
    const url = process.env["MONGODB_TEST_URL"];
    const wanted = "set MONGODB_TEST_URL to a replica set of three members that hold data";
    if (url === undefined) throw new Error(wanted);
    const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 10_000 });
    try {
      const hello = await client.db("admin").command({ hello: 1 });
      const hosts = (hello["hosts"] ?? []) as readonly string[];
      if (hello["setName"] === undefined || hosts.length < 3) throw new Error(`${wanted}: this server is none`);
      const parsed = new URL(url.replace(/^mongodb(\+srv)?:\/\/([^/?]*@)?[^/?]*/, "mongodb://$2host"));
      const login = parsed.username === "" ? "" : `${parsed.username}:${parsed.password}@`;
      const options = new URLSearchParams(parsed.search);
      for (const name of ["replicaSet", "directConnection"]) options.delete(name);
      options.set("directConnection", "true");
      const members = hosts.map((host) => new MongoClient(`mongodb://${login}${host}/?${options.toString()}`));
      await Promise.all(members.map((member) => member.connect()));
      return new ReplicaSet(url, members);
    } finally {
      await client.close();
    }
  }

  /** The primary hands over; resolves when another member is primary. */
  async stepDown(): Promise<void> {
    const primary = await this.#primary();
    await adminOn(primary, { replSetStepDown: 20, secondaryCatchUpPeriodSecs: 5, force: true }).catch(() => undefined);
    await this.#untilPrimary((member) => member !== primary);
  }

  /**
   * Runs `body` while no other member gets what the primary writes, and then makes another member primary, so that what
   * `body` has written is rolled back. Needs members with `--setParameter enableTestCommands=1`.
   */
  async rollBack(body: () => Promise<void>): Promise<void> {
    const primary = await this.#primary();
    const others = this.#members.filter((member) => member !== primary);
    const hold = (mode: "alwaysOn" | "off") =>
      Promise.all(others.map((member) => adminOn(member, { configureFailPoint: "stopReplProducer", mode })));
    await hold("alwaysOn");
    try {
      await body();
      await adminOn(primary, { replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0, force: true }).catch(
        () => undefined,
      );
      await adminOn(others[0]!, { replSetStepUp: 1 }).catch(() => undefined);
      await this.#untilPrimary((member) => member !== primary);
    } finally {
      await hold("off");
    }
    await this.#untilPrimary((member) => member !== primary);
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.close()));
  }

  async #primary(): Promise<MongoClient> {
    return this.#untilPrimary(() => true);
  }

  async #untilPrimary(fits: (member: MongoClient) => boolean): Promise<MongoClient> {
    for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(200)) {
      for (const member of this.#members) {
        const hello = await adminOn(member, { hello: 1 }).catch(() => undefined);
        if (hello?.["isWritablePrimary"] === true && fits(member)) return member;
      }
    }
    throw new Error("the replica set has no other primary within 60 s");
  }
}

function adminOn(member: MongoClient, command: Document): Promise<Document> {
  return member.db("admin").command(command);
}
