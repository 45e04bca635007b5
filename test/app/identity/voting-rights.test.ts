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

describe("who may vote on an approval", () => {
  it("are those who are named, by name or id, and those who have one of the roles as listed", () => {
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

  it("is nobody who triggered the run, for themselves or as another, where that is prevented", () => {
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

  it("are named to those who may not, as many as somebody reads", () => {
    const named = { required: ["ben"], users: ["cid", "ben"], roles: ["owner", "admin"] } as const;
    expect(whyNotVote(person("ann"), "reject", rule(named))).to.equal(
      "ann may not reject job deploy: only ben, cid and users with the role owner or admin may",
    );
    const users = Array.from({ length: 256 }, (_, n) => `user-${n}`);
    const text = whyNotVote(person("ann"), "approve", rule({ users }))!;
    expect(text).to.match(/user-19 and 236 others may$/);
  });
});
