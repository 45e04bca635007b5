import { expect } from "chai";
import { hashPassword, verifyPassword } from "../../../src/app/identity/passwords.ts";
import { sampleAggregate } from "../../contracts/samples.ts";
import { openTestSqlite } from "../../support/stores.ts";

describe("the hashing of passwords", function () {
  this.timeout(30_000);

  it("makes hashes that only the right password matches", async () => {
    const stored = await hashPassword("the right password");
    expect(stored).to.match(/^\$argon2id\$/);
    expect(await verifyPassword(stored, "the right password")).to.equal(true);
    expect(await verifyPassword(stored, "another password")).to.equal(false);
  });

  it("does not let a commit wait: 16 hashes at once are not before it", async () => {
    const { stores, close } = await openTestSqlite();
    try {
      await hashPassword("starts the thread");
      let hashed = 0;
      const hashes = Array.from({ length: 16 }, (_, n) => hashPassword(`password ${n}`).then(() => hashed++));
      const hashedBefore: number[] = [];
      for (let commit = 0; commit < 3; commit++) {
        await stores.aggregates.create(sampleAggregate());
        hashedBefore.push(hashed);
      }
      await Promise.all(hashes);
      // With the hashes in the pool that syncs files, the first commit waited for at least 12 of them.
      expect(hashedBefore[0], `hashes before each commit: ${hashedBefore.join(", ")}`).to.be.lessThan(8);
      expect(hashed).to.equal(16);
    } finally {
      await close();
    }
  });

  it("refuses more calls than may wait, and works again afterwards", async () => {
    const calls = Array.from({ length: 36 }, () =>
      hashPassword("x").then(
        () => "hashed",
        ({ reason }) => reason,
      ),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer === "too_many")).to.have.length(4);
    expect(answers.filter((answer) => answer === "hashed")).to.have.length(32);
    expect(await hashPassword("x")).to.be.a("string");
  });
});
