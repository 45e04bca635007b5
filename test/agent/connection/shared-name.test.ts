import { expect } from "chai";
import { SharedName } from "../../../src/agent/connection/shared-name.ts";

describe("the name of an agent", () => {
  let now = 0;
  let shared: SharedName;
  beforeEach(() => {
    now = 0;
    shared = new SharedName({ monotonic: () => now });
  });
  const refuse = () => shared.refused("twin");

  it("counts as shared when a second young token is refused", () => {
    shared.registered();
    refuse();
    shared.registered();
    now += 59_000;
    expect(refuse).to.throw('another agent registers as "twin" too');
  });

  it("does not count as shared when the refused tokens are old", () => {
    refuse();
    for (let times = 0; times < 5; times++) {
      shared.registered();
      now += 61_000;
      refuse();
    }
  });

  it("is given up by the agent that came later", () => {
    const earlier = shared;
    const later = new SharedName({ monotonic: () => now });
    earlier.registered();
    now += 3_600_000;
    const outcome = (() => {
      for (let holder = later, other = earlier; ; [holder, other] = [other, holder]) {
        holder.registered();
        now += 1_000;
        try {
          other.refused("twin");
        } catch {
          return other;
        }
      }
    })();
    expect(outcome).to.equal(later);
  });
});
