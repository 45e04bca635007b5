/** The contract of the store of users, tokens and agents. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { asId, newId, type TenantId } from "../../src/domain/ids.ts";
import {
  isActiveOwner,
  storedToken,
  type StoredToken,
  type Token,
  type User,
} from "../../src/stores/ports/identity.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function identityStoreContract(open: () => Stores): void {
  describe("the identity store", () => {
    it("keeps users by name and tokens by subject", async () => {
      const user: User = {
        userId: newId("usr"),
        name: newId("usr"),
        role: "viewer",
        passwordHash: "",
        createdAt: 1,
        disabled: false,
      };
      expect(await open().identity.createUser(user)).to.equal("created");
      expect(await open().identity.createUser({ ...user, userId: newId("usr") })).to.equal("nameTaken");
      expect(await open().identity.findUserByName(user.name)).to.deep.equal(user);
      expect(await open().identity.findUser(user.userId)).to.deep.equal(user);
      const token: Token = {
        tokenId: newId("tok"),
        kind: "personal",
        secretHash: "h",
        name: "t",
        subject: user.userId,
        scopes: ["act-as"],
        createdAt: 1,
        expiresAt: null,
        maxUses: null,
        uses: 0,
      };
      await open().identity.createToken(token);
      expect(await open().identity.findToken(token.tokenId)).to.deep.equal(token);
      expect(await open().identity.listTokens("personal", user.userId)).to.deep.equal([token]);
      expect(await open().identity.deleteToken(token.tokenId)).to.equal(true);
      expect(await open().identity.deleteToken(token.tokenId)).to.equal(false);
    });

    const userOf = (role: User["role"]): User => {
      const userId = newId("usr");
      return { userId, name: userId, role, passwordHash: "", createdAt: 1, disabled: false };
    };

    it("changes the fields of a user that are given, and no other ones", async () => {
      const { identity } = open();
      const [user, other] = [userOf("viewer"), userOf("viewer")];
      for (const one of [user, other]) await identity.createUser(one);
      const name = newId("usr");
      const change = { name, role: "operator", passwordHash: "h", loginsFrom: 7 } as const;
      expect(await identity.changeUser(user.userId, change)).to.equal("changed");
      expect(await identity.findUserByName(name)).to.deep.equal({ ...user, ...change });
      expect(await identity.findUserByName(user.name)).to.equal(undefined);
      expect(await identity.changeUser(user.userId, { name: other.name })).to.equal("nameTaken");
      expect(await identity.changeUser(user.userId, { name })).to.equal("changed");
      expect(await identity.findUser(user.userId)).to.deep.equal({ ...user, ...change });
      expect(await identity.changeUser(newId("usr"), { disabled: true })).to.equal("missing");
    });

    it("keeps the projects of a narrowed token, which nodes that do not know them cannot prove", async () => {
      const token: Token = {
        tokenId: newId("tok"),
        kind: "personal",
        secretHash: "ab".repeat(32),
        name: "narrow",
        subject: newId("usr"),
        scopes: ["read"],
        projects: [{ projectId: newId("prj"), tenantId: newId("tnt") }],
        createdAt: 1,
        expiresAt: null,
        maxUses: null,
        uses: 0,
      };
      const { identity } = open();
      await identity.createToken(token);
      expect(await identity.findToken(token.tokenId)).to.deep.equal(token);
      expect((await identity.findProof(token.tokenId))?.token).to.deep.equal(token);
      expect(await identity.listTokens("personal", token.subject)).to.deep.equal([token]);
      expect(storedToken(token))
        .to.include({ secretHash: "0".repeat(64) })
        .and.not.have.property("projects");
    });

    it("removes a user and the user's personal tokens", async () => {
      const { identity } = open();
      const user = userOf("operator");
      await identity.createUser(user);
      const token = { secretHash: "h", name: "t", subject: user.userId, scopes: [], createdAt: 1, expiresAt: null };
      const kinds = ["personal", "registration"] as const;
      for (const kind of kinds) {
        await identity.createToken({ ...token, tokenId: newId("tok"), kind, maxUses: null, uses: 0 });
      }
      expect(await identity.deleteUser(user.userId)).to.equal("deleted");
      expect(await identity.findUser(user.userId)).to.equal(undefined);
      expect(await identity.listTokens("personal", user.userId)).to.deep.equal([]);
      expect(await identity.listTokens("registration", user.userId)).to.have.length(1);
      expect(await identity.deleteUser(user.userId)).to.equal("missing");
      expect(await identity.createUser({ ...userOf("viewer"), name: user.name })).to.equal("created");
    });

    it("keeps an active owner, also when the last two owners are removed at the same moment", async () => {
      const { identity } = open();
      const before = (await identity.listUsers()).filter(isActiveOwner);
      const [one, two] = [userOf("owner"), userOf("owner")];
      for (const owner of [one, two]) await identity.createUser(owner);
      for (const { userId } of before) expect(await identity.changeUser(userId, { role: "admin" })).to.equal("changed");
      const outcomes = await Promise.all([
        identity.changeUser(one.userId, { role: "viewer" }),
        identity.changeUser(two.userId, { disabled: true }),
      ]);
      expect(outcomes.toSorted()).to.deep.equal(["changed", "lastOwner"]);
      const [last, ...others] = (await identity.listUsers()).filter(isActiveOwner);
      expect(others).to.deep.equal([]);
      expect(await identity.deleteUser(last!.userId)).to.equal("lastOwner");
      expect(await identity.changeUser(last!.userId, { name: newId("usr") })).to.equal("changed");
      const third = userOf("viewer");
      await identity.createUser(third);
      expect(await identity.changeUser(third.userId, { role: "owner" })).to.equal("changed");
      expect(await identity.deleteUser(last!.userId)).to.equal("deleted");
      expect(await identity.changeUser(third.userId, { role: "viewer" })).to.equal("lastOwner");
      for (const { userId } of before) await identity.changeUser(userId, { role: "owner" });
    });

    it("counts the uses of a registration token, at most `maxUses` even of concurrent ones", async () => {
      const token: Token = {
        tokenId: newId("tok"),
        kind: "registration",
        secretHash: "h",
        name: "fleet",
        subject: newId("usr"),
        scopes: [],
        createdAt: 1,
        expiresAt: null,
        maxUses: 3,
        uses: 0,
      };
      const endless: Token = { ...token, tokenId: newId("tok"), maxUses: null };
      for (const one of [token, endless]) await open().identity.createToken(one);
      const { identity } = open();
      const counted = await Promise.all(Array.from({ length: 12 }, () => identity.countUse(token)));
      expect(counted.filter(Boolean)).to.have.length(3);
      for (let use = 0; use < 5; use++) expect(await identity.countUse(endless)).to.equal(true);
      expect(await identity.findToken(token.tokenId)).to.deep.equal({ ...token, uses: 3 });
      const listed = await identity.listRegistrationTokens();
      expect(listed).to.deep.include.members([
        { ...token, uses: 3 },
        { ...endless, uses: 5 },
      ]);
      expect(listed.every(({ kind }) => kind === "registration")).to.equal(true);
      expect(await identity.countUse({ tokenId: newId("tok"), maxUses: null })).to.equal(false);
    });

    it("notes the last use of a token, and no earlier one after it", async () => {
      const { identity } = open();
      const token = { secretHash: "h", name: "t", subject: newId("usr"), scopes: [], createdAt: 1, expiresAt: null };
      const stored: Token = { ...token, tokenId: newId("tok"), kind: "personal", maxUses: null, uses: 0 };
      await identity.createToken(stored);
      for (const at of [50, 40]) await identity.noteTokenUse(stored.tokenId, at);
      expect(await identity.findToken(stored.tokenId)).to.deep.equal({ ...stored, lastUsedAt: 50 });
      await identity.noteTokenUse(newId("tok"), 60);
    });

    it("reads tokens of versions that count no uses, and counts from 0", async () => {
      const old: StoredToken = {
        tokenId: newId("tok"),
        kind: "registration",
        secretHash: "h",
        name: "old",
        subject: newId("usr"),
        scopes: [],
        createdAt: 1,
        expiresAt: null,
      };
      await open().identity.createToken(old as Token);
      expect(await open().identity.findToken(old.tokenId)).to.deep.equal({ ...old, maxUses: null, uses: 0 });
      expect(await open().identity.countUse({ ...old, maxUses: null })).to.equal(true);
      expect((await open().identity.findToken(old.tokenId))!.uses).to.equal(1);
    });

    it("keeps agents, and removes their tokens with them", async () => {
      const agentId = newId("agt");
      const agent = {
        agentId,
        name: agentId,
        labels: { "kubernetes.io/os": "linux", $set: "a.b", "__proto__.x": "" },
        slots: 2,
        version: "1",
        createdAt: 1,
      };
      await open().identity.putAgent(agent);
      await open().identity.putAgent({ ...agent, slots: 4 });
      expect(await open().identity.findAgentByName(agentId)).to.deep.equal({ ...agent, slots: 4 });
      const trusted = { "kubernetes.io/os": "linux", $set: "a.b" };
      expect(await open().identity.changeAgent(agentId, { trustedLabels: trusted })).to.equal(true);
      // Who replaces the agent may have read it before its trusted labels changed.
      await open().identity.putAgent({ ...agent, slots: 4, trustedLabels: { old: "x" } });
      expect(await open().identity.findAgent(agentId)).to.deep.equal({ ...agent, slots: 4, trustedLabels: trusted });
      expect((await open().identity.listAgents()).find((one) => one.agentId === agentId)).to.deep.equal({
        ...agent,
        slots: 4,
        trustedLabels: trusted,
      });
      const drain = { by: "ann", at: 7, reason: "new disk" };
      const labelledBy = { kind: "user", name: "ann", at: 6 } as const;
      expect(await open().identity.changeAgent(agentId, { drain, labelledBy })).to.equal(true);
      await open().identity.putAgent({ ...agent, slots: 4, drain: null });
      const given = { trustedLabels: trusted, drain, labelledBy };
      expect(await open().identity.findAgent(agentId)).to.deep.equal({ ...agent, slots: 4, ...given });
      await open().identity.changeAgent(agentId, { drain: null });
      expect(await open().identity.findAgent(agentId)).to.deep.equal({ ...agent, slots: 4, ...given, drain: null });
      expect(await open().identity.changeAgent(newId("agt"), { drain })).to.equal(false);
      const reach = { tenantId: asId<TenantId>("tnt_1"), projectIds: null };
      const bound = { ...agent, agentId: newId("agt"), name: newId("agt"), reach, trustedLabels: trusted };
      await open().identity.putAgent(bound);
      expect(await open().identity.findAgent(bound.agentId)).to.deep.equal(bound);
      await open().identity.putAgent({ ...bound, reach: null });
      expect((await open().identity.findAgent(bound.agentId))!.reach).to.deep.equal(reach);
      const namesake = { ...agent, agentId: newId("agt") };
      const refusal = await open()
        .identity.putAgent(namesake)
        .catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(MillraceError).with.property("reason", "already_exists");
      expect(await open().identity.findAgent(namesake.agentId)).to.equal(undefined);
      const token: Token = {
        tokenId: newId("tok"),
        kind: "agent",
        secretHash: "h",
        name: "",
        subject: agentId,
        scopes: [],
        createdAt: 1,
        expiresAt: null,
        maxUses: null,
        uses: 0,
      };
      await open().identity.createToken(token);
      expect(await open().identity.deleteAgent(agentId)).to.equal(true);
      expect(await open().identity.findToken(token.tokenId)).to.equal(undefined);
      expect(await open().identity.findAgent(agentId)).to.equal(undefined);
    });
  });
}
