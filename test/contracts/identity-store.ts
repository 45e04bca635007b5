/** The contract of the store of users, tokens and agents. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import type { StoredToken, Token, User } from "../../src/stores/ports/identity.ts";
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
      expect(await open().identity.setTrustedLabels(agentId, trusted)).to.equal(true);
      // Who replaces the agent may have read it before its trusted labels changed.
      await open().identity.putAgent({ ...agent, slots: 4, trustedLabels: { old: "x" } });
      expect(await open().identity.findAgent(agentId)).to.deep.equal({ ...agent, slots: 4, trustedLabels: trusted });
      expect((await open().identity.listAgents()).find((one) => one.agentId === agentId)).to.deep.equal({
        ...agent,
        slots: 4,
        trustedLabels: trusted,
      });
      expect(await open().identity.setTrustedLabels(newId("agt"), trusted)).to.equal(false);
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
