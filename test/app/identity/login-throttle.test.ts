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
