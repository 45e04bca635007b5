import { expect } from "chai";
import { LoginThrottle } from "../../../src/app/identity/login-throttle.ts";
import type { MillraceError } from "../../../src/domain/errors.ts";

describe("the throttle of logins", () => {
  /** Seconds to wait, or 0 when the try may be made; it counts as wrong. */
  function tryAt(throttle: LoginThrottle, address: string, name: string, seconds: number): number {
    try {
      throttle.take(address, name, seconds * 1_000);
      return 0;
    } catch (error) {
      expect((error as MillraceError).reason).to.equal("too_many");
      return (error as MillraceError).retryAfterSeconds;
    }
  }

  it("gives an address 20 tries, and then one each 6 s, whatever the names", () => {
    const throttle = new LoginThrottle();
    const waits = Array.from({ length: 25 }, (_, index) => tryAt(throttle, "a", `name ${index}`, 0));
    expect(waits).to.deep.equal([...Array.from({ length: 20 }, () => 0), 6, 6, 6, 6, 6]);
    expect(tryAt(throttle, "a", "x", 5.9)).to.equal(1);
    expect(tryAt(throttle, "a", "x", 6)).to.equal(0);
    expect(tryAt(throttle, "a", "x", 6)).to.equal(6);
    expect(tryAt(throttle, "b", "x", 6)).to.equal(0);
    // After two minutes all 20 tries are there again.
    expect(Array.from({ length: 21 }, () => tryAt(throttle, "a", "y", 200)).filter((wait) => wait > 0)).to.have.length(
      1,
    );
  });

  it("lets an address that goes on wait longer and longer, until it was quiet", () => {
    const throttle = new LoginThrottle();
    for (let index = 0; index < 20; index++) tryAt(throttle, "a", `name ${index}`, 0);
    let seconds = 0;
    const waits = Array.from({ length: 32 }, (_, index) => {
      const wait = tryAt(throttle, "a", `other ${index}`, seconds);
      seconds += wait;
      expect(tryAt(throttle, "a", `other ${index}`, seconds)).to.equal(0);
      return wait;
    });
    const fives = [6, 12, 24, 48, 96, 192].flatMap((wait) => Array.from({ length: 5 }, () => wait));
    expect(waits).to.deep.equal([6, ...fives, 192]);
    // A steady pace does not help either: the time is short again only after all tries were there.
    expect(tryAt(throttle, "a", "x", seconds)).to.equal(192);
    seconds += 192 + 19 * 6;
    for (let index = 0; index < 20; index++) expect(tryAt(throttle, "a", `n ${index}`, seconds)).to.equal(0);
    expect(tryAt(throttle, "a", "x", seconds)).to.equal(6);
  });

  it("slows down an address that keeps a steady pace below its bound", () => {
    const throttle = new LoginThrottle();
    for (let index = 0; index < 10; index++) tryAt(throttle, "a", "x", 0);
    let admitted = 0;
    for (let seconds = 0; seconds < 3_600; seconds += 6)
      if (tryAt(throttle, "a", `${seconds}`, seconds) === 0) admitted++;
    expect(admitted).to.be.below(100);
  });

  it("counts no try that is given back", () => {
    const throttle = new LoginThrottle();
    for (let index = 0; index < 100; index++) throttle.take("a", "ann", 0).giveBack();
    expect(tryAt(throttle, "a", "ann", 0)).to.equal(0);
  });

  it("counts the tries at a name from all addresses, and lets each further address try once a minute", () => {
    const throttle = new LoginThrottle();
    const attack = (seconds: number) =>
      Array.from({ length: 200 }, (_, index) => tryAt(throttle, `attacker ${index}`, "ann", seconds));
    expect(
      attack(0).every((wait) => wait === 0),
      "the first try of each address",
    ).to.equal(true);
    const again = attack(1);
    expect(again.filter((wait) => wait === 0)).to.have.length(0);
    expect(Math.max(...again), "until the name has a try, or the address has one for it").to.equal(29);
    // The user comes from an address of their own, makes one mistake, and may try again after a minute.
    expect(tryAt(throttle, "home", "ann", 2)).to.equal(0);
    expect(tryAt(throttle, "home", "ann", 3)).to.equal(27);
    expect(tryAt(throttle, "home", "bob", 3)).to.equal(0);
    attack(61);
    expect(tryAt(throttle, "home", "ann", 62)).to.equal(0);
  });

  it("keeps a bounded memory, and forgets first what was unused the longest", () => {
    const throttle = new LoginThrottle();
    for (let index = 0; index < 25; index++) tryAt(throttle, "attacker", "ann", 0);
    for (let index = 0; index < 50_000; index++) {
      tryAt(throttle, `address ${index}`, `name ${index}`, 0);
      if (index % 5_000 === 0) tryAt(throttle, "attacker", "ann", 0);
    }
    expect(throttle.size).to.be.at.most(30_000);
  });
});
