/** The contract of the store of logins. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { Voucher, LoginSession } from "../../src/stores/ports/logins.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

/** Before everything that the other contracts store. */
const LONG_AGO = -1_000_000;

export function loginStoreContract(open: () => Stores): void {
  describe("the login store", () => {
    const sessionOf = (change: Partial<LoginSession> = {}): LoginSession => ({
      sessionId: newId("ses"),
      userId: newId("usr"),
      kind: "api",
      createdAt: 10,
      lastUsedAt: 10,
      expiresAt: 1_000,
      address: "192.0.2.1",
      userAgent: "curl/8",
      generation: 0,
      rotatedAt: 10,
      ...change,
    });
    const voucherOf = (change: Partial<Voucher> = {}): Voucher => ({
      hash: newId("cmd"),
      kind: "reset",
      alias: null,
      subject: newId("usr"),
      expiresAt: 1_000,
      state: "",
      facts: { note: "a", count: 2, none: null },
      ...change,
    });

    it("keeps sessions by user, and ends one of them or all", async () => {
      const { logins } = open();
      const userId = newId("usr");
      const [late, early] = [sessionOf({ userId, createdAt: 20 }), sessionOf({ userId })];
      const other = sessionOf();
      for (const session of [late, early, other]) await logins.createSession(session);
      await logins.createSession({ ...early, address: "a repeat" });
      expect(await logins.findSession(early.sessionId)).to.deep.equal(early);
      expect(await logins.listSessions(userId)).to.deep.equal([early, late]);
      expect(await logins.endSession(early.sessionId)).to.equal(true);
      expect(await logins.endSession(early.sessionId)).to.equal(false);
      expect(await logins.findSession(early.sessionId)).to.equal(undefined);
      await logins.endSessionsOf(userId);
      expect(await logins.listSessions(userId)).to.deep.equal([]);
      expect(await logins.findSession(other.sessionId)).to.deep.equal(other);
    });

    it("begins each generation of a session once, also for concurrent calls", async () => {
      const { logins } = open();
      const session = sessionOf();
      await logins.createSession(session);
      const use = { at: 50, expiresAt: 2_000 };
      const rotated = await Promise.all([0, 0, 0].map((from) => logins.rotateSession(session.sessionId, from, use)));
      expect(rotated.filter(Boolean)).to.have.length(1);
      const next = { ...session, generation: 1, rotatedAt: 50, lastUsedAt: 50, expiresAt: 2_000 };
      expect(await logins.findSession(session.sessionId)).to.deep.equal(next);
      expect(await logins.rotateSession(session.sessionId, 0, use)).to.equal(false);
      expect(await logins.rotateSession(newId("ses"), 0, use)).to.equal(false);
      await logins.noteSessionUse(session.sessionId, { at: 60, expiresAt: 3_000 });
      expect(await logins.findSession(session.sessionId)).to.deep.equal({ ...next, lastUsedAt: 60, expiresAt: 3_000 });
      await logins.noteSessionUse(newId("ses"), use);
    });

    it("gives a voucher to one of many callers", async () => {
      const { logins } = open();
      const voucher = voucherOf();
      expect(await logins.putVoucher(voucher)).to.equal(true);
      expect(await logins.putVoucher({ ...voucher, kind: "ticket" })).to.equal(false);
      expect(await logins.findVoucher("reset", voucher.hash)).to.deep.equal(voucher);
      expect(await logins.findVoucher("ticket", voucher.hash)).to.equal(undefined);
      expect(await logins.takeVoucher("ticket", voucher.hash, "")).to.equal(undefined);
      const taken = await Promise.all(Array.from({ length: 8 }, () => logins.takeVoucher("reset", voucher.hash, "")));
      expect(taken.filter((one) => one !== undefined)).to.deep.equal([voucher]);
      expect(await logins.findVoucher("reset", voucher.hash)).to.equal(undefined);
    });

    it("finds a voucher by its alias, and moves it between states once", async () => {
      const { logins } = open();
      const device = voucherOf({ kind: "device", alias: newId("cmd"), state: "pending", subject: "" });
      expect(await logins.putVoucher(device)).to.equal(true);
      expect(await logins.putVoucher(voucherOf({ kind: "device", alias: device.alias }))).to.equal(false);
      expect(await logins.findVoucherByAlias("device", device.alias!)).to.deep.equal(device);
      expect(await logins.takeVoucher("device", device.hash, "approved")).to.equal(undefined);
      const subject = newId("usr");
      const moves = await Promise.all(
        ["approved", "denied"].map((state) => logins.moveVoucher(device.hash, "pending", { state, subject })),
      );
      expect(moves.filter(Boolean)).to.have.length(1);
      const moved = (await logins.findVoucher("device", device.hash))!;
      expect(moved).to.deep.equal({ ...device, subject, state: moves[0] ? "approved" : "denied" });
    });

    it("drops the vouchers of a user by kind, and counts no further than it is asked to", async () => {
      const { logins } = open();
      const subject = newId("usr");
      const kinds = ["reset", "invitation", "ticket"] as const;
      for (const kind of kinds) await logins.putVoucher(voucherOf({ kind, subject, hash: `${subject} ${kind}` }));
      await logins.dropVouchers(["reset", "invitation"], subject);
      expect(await logins.findVoucher("reset", `${subject} reset`)).to.equal(undefined);
      expect(await logins.findVoucher("ticket", `${subject} ticket`)).not.to.equal(undefined);
      const far = 9_000_000_000_000_000;
      for (let count = 0; count < 3; count++) await logins.putVoucher(voucherOf({ kind: "device", expiresAt: far }));
      expect(await logins.countVouchers("device", far - 1, 2)).to.equal(2);
      expect(await logins.countVouchers("device", far - 1, 10)).to.equal(3);
      expect(await logins.countVouchers("device", far, 10)).to.equal(0);
    });

    it("forgets what has expired, in bounded calls", async () => {
      const { logins } = open();
      const old = [1, 2, 3].map((expiresAt) => sessionOf({ expiresAt: LONG_AGO + expiresAt }));
      for (const session of old) await logins.createSession(session);
      expect(await logins.forgetSessions(LONG_AGO + 3, 1)).to.equal(1);
      expect(await logins.forgetSessions(LONG_AGO + 3, 10)).to.equal(1);
      expect(await logins.forgetSessions(LONG_AGO + 3, 10)).to.equal(0);
      expect(await logins.findSession(old[2]!.sessionId)).to.deep.equal(old[2]);
      const vouchers = [1, 2].map((expiresAt) => voucherOf({ expiresAt: LONG_AGO + expiresAt }));
      for (const voucher of vouchers) await logins.putVoucher(voucher);
      expect(await logins.forgetVouchers(LONG_AGO + 2, 10)).to.equal(1);
      expect(await logins.findVoucher("reset", vouchers[1]!.hash)).to.deep.equal(vouchers[1]);
    });

    it("links the user of an issuer once", async () => {
      const { logins } = open();
      const identity = { issuer: "https://id.example", subject: "s".repeat(255), userId: newId("usr"), createdAt: 1 };
      identity.subject = `${identity.userId}${identity.subject}`;
      expect(await logins.linkIdentity(identity)).to.equal(true);
      expect(await logins.linkIdentity({ ...identity, userId: newId("usr") })).to.equal(false);
      expect(await logins.findIdentity(identity.issuer, identity.subject)).to.deep.equal(identity);
      expect(await logins.findIdentity("https://other.example", identity.subject)).to.equal(undefined);
      expect(await logins.listIdentities(identity.userId)).to.deep.equal([identity]);
      await logins.unlinkIdentities(identity.userId);
      expect(await logins.findIdentity(identity.issuer, identity.subject)).to.equal(undefined);
    });

    it("removes everything of a user that is deleted", async () => {
      const { logins, identity } = open();
      const userId = newId("usr");
      await identity.createUser({
        userId,
        name: userId,
        role: "viewer",
        passwordHash: "",
        createdAt: 1,
        disabled: false,
      });
      const session = sessionOf({ userId });
      const voucher = voucherOf({ subject: userId });
      await logins.createSession(session);
      await logins.putVoucher(voucher);
      await logins.linkIdentity({ issuer: "https://id.example", subject: userId, userId, createdAt: 1 });
      expect(await identity.deleteUser(userId)).to.equal("deleted");
      expect(await logins.findSession(session.sessionId)).to.equal(undefined);
      expect(await logins.findVoucher("reset", voucher.hash)).to.equal(undefined);
      expect(await logins.listIdentities(userId)).to.deep.equal([]);
    });
  });
}
