import { expect } from "chai";
import { type VotingRule, whyNotVote } from "../../../src/app/identity/voting-rights.ts";
import { asId, type UserId } from "../../../src/domain/ids.ts";
import type { Role } from "../../../src/domain/roles.ts";

const person = (name: string, role: Role = "operator") => ({ userId: asId<UserId>(`usr_${name}`), name, role });

const rule = (
  planned: Partial<VotingRule["planned"]>,
  origin: VotingRule["origin"] = { triggeredBy: "zoe", actor: "zoe" },
): VotingRule => ({
  gate: "job deploy",
  planned: { required: [], users: [], roles: [], preventSelf: false, ...planned },
  origin,
});

describe("the right to vote on an approval", () => {
  it("belongs to users named by name or id, and to users with one of the listed roles", () => {
    for (const [planned, role] of [
      [{ required: ["ann"] }, "viewer"],
      [{ required: ["usr_ann"] }, "viewer"],
      [{ users: ["ann"] }, "viewer"],
      [{ users: ["usr_ann"] }, "viewer"],
      [{ roles: ["operator", "maintainer"] }, "maintainer"],
    ] as const) {
      expect(whyNotVote(person("ann", role), "approve", rule(planned)), JSON.stringify(planned)).to.equal(null);
    }
    for (const planned of [{ required: ["Ann"] }, { users: ["ben"] }, { roles: ["viewer", "admin"] }] as const) {
      expect(whyNotVote(person("ann"), "approve", rule(planned)), JSON.stringify(planned)).to.include("ann may not");
    }
  });

  it("does not let the person who triggered the run approve it with `preventSelf`, but lets them reject", () => {
    const asked = { roles: ["operator"], preventSelf: true } as const;
    for (const origin of [
      { triggeredBy: "ann", actor: "ann" },
      { triggeredBy: "usr_ann", actor: "ann" },
      { triggeredBy: "ann", actor: "ben" },
      { triggeredBy: "ben", actor: "ann" },
    ]) {
      expect(whyNotVote(person("ann"), "approve", rule(asked, origin))).to.equal(
        "ann triggered this run, so another user has to approve job deploy: users with the role operator may",
      );
      expect(whyNotVote(person("ann"), "reject", rule(asked, origin))).to.equal(null);
      expect(whyNotVote(person("cid"), "approve", rule(asked, origin))).to.equal(null);
      expect(whyNotVote(person("ann"), "approve", rule({ ...asked, preventSelf: false }, origin))).to.equal(null);
    }
  });

  it("is explained in the refusal, which names 20 users at most", () => {
    const named = { required: ["ben"], users: ["cid", "ben"], roles: ["owner", "admin"] } as const;
    expect(whyNotVote(person("ann"), "reject", rule(named))).to.equal(
      "ann may not reject job deploy: only ben, cid and users with the role owner or admin may",
    );
    const users = Array.from({ length: 256 }, (_, n) => `user-${n}`);
    const text = whyNotVote(person("ann"), "approve", rule({ users }))!;
    expect(text).to.match(/user-19 and 236 others may$/);
  });
});
