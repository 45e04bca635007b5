import { expect } from "chai";
import { LoginThrottle } from "../../src/app/identity/login-throttle.ts";
import { login as logInUser } from "../../src/app/identity/users.ts";
import type { MillraceError } from "../../src/domain/errors.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

describe("wrong logins over HTTP", () => {
  const PASSWORD = "the password of ann";
  let edge: TestEdge;
  before(async () => {
    // The tests call from loopback and name addresses as a proxy does.
    edge = await openTestEdge({ refuseAfterMs: 300, trustedProxies: [{ address: "127.0.0.0", bits: 8 }] });
    await edge.call("POST", "/api/v1/users", { body: { name: "ann", role: "viewer", password: PASSWORD } });
  });
  after(() => edge.close());

  const login = (address: string, name: string, password: string) =>
    edge.call("POST", "/api/v1/auth/login", {
      token: null,
      body: { name, password },
      headers: { "x-forwarded-for": address },
    });

  it("are refused after 20 of one address, while users log in from other addresses", async () => {
    const attack = Array.from({ length: 300 }, () => login("203.0.113.1", "ann", "wrong"));
    const right = await login("192.0.2.1", "ann", PASSWORD);
    expect(right.status, JSON.stringify(right.body)).to.equal(200);
    const answers = await Promise.all(attack);
    expect(answers.filter(({ status }) => status === 401)).to.have.length(20);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(280);
    expect(refused[0]!.body).to.include({ reason: "too_many" });
    expect(refused[0]!.body.errMsg).to.match(/^too many wrong logins: try again in \d+ s$/);
    expect(Number(refused[0]!.headers.get("retry-after"))).to.be.within(1, 60);
    const start = performance.now();
    expect((await login("203.0.113.1", "ann", PASSWORD)).status, "the right password from that address").to.equal(429);
    expect(performance.now() - start, "a refusal is not sent at once").to.be.greaterThan(290);
  });

  it("of one name are refused after 20 of all addresses, except the first of an address", async () => {
    for (let index = 0; index < 25; index++) await login(`198.51.100.${index}`, "bob", "wrong");
    expect((await login("198.51.100.3", "bob", "wrong")).status).to.equal(429);
    expect((await login("192.0.2.2", "bob", "wrong")).status).to.equal(401);
    expect((await login("192.0.2.2", "bob", "wrong")).status).to.equal(429);
    expect((await login("192.0.2.2", "ann", PASSWORD)).status).to.equal(200);
  });

  it("let the user in from elsewhere also while there are 10,000 of them, of which few cost a hash", async () => {
    await edge.call("POST", "/api/v1/users", { body: { name: "dan", role: "viewer", password: PASSWORD } });
    const throttle = new LoginThrottle();
    const tryFrom = (address: string, password: string): Promise<string> =>
      logInUser(
        edge.context,
        { name: "dan", password, refresh: false },
        { throttle, address, userAgent: "", trail: undefined },
      ).then(
        () => "in",
        (error: MillraceError) => error.reason,
      );
    const outcomes: Record<string, number> = {};
    for (let index = 0; index < 10_000; index++) {
      const outcome = await tryFrom(`203.0.113.${index % 12}`, "wrong");
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    expect(outcomes["unauthenticated"]).to.be.within(20, 40);
    expect(outcomes["too_many"]).to.equal(10_000 - outcomes["unauthenticated"]!);
    expect(await tryFrom("203.0.113.1", PASSWORD), "from an address of the attack").to.equal("too_many");
    expect(await tryFrom("192.0.2.77", PASSWORD), "from elsewhere").to.equal("in");
    expect(await tryFrom("192.0.2.77", PASSWORD), "a right password counts for nothing").to.equal("in");
  });

  it("take as long for a name that no user has, so that no name is learned from the time", async () => {
    await edge.call("POST", "/api/v1/users", { body: { name: "cid", role: "viewer", password: PASSWORD } });
    const timeOf = async (name: string, address: string): Promise<number> => {
      const start = performance.now();
      expect((await login(address, name, "wrong")).status).to.equal(401);
      return performance.now() - start;
    };
    let [known, unknown] = [Infinity, Infinity];
    // By turns, so that both meet the same load of the machine.
    for (let turn = 0; turn < 6; turn++) {
      known = Math.min(known, await timeOf("cid", `203.0.113.${100 + turn}`));
      unknown = Math.min(unknown, await timeOf("no-such-user", `203.0.113.${100 + turn}`));
    }
    // Without the work of a hash, an answer takes a small part of this.
    expect(unknown).to.be.greaterThan(known / 3);
  });

  it("leave no more than 32 logins in hand", async () => {
    const addresses = Array.from({ length: 60 }, (_, index) => `198.18.0.${index}`);
    const answers = await Promise.all(addresses.map((address) => login(address, `user of ${address}`, "wrong")));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).to.be.within(1, 28);
    expect(refused[0]!.body.errMsg).to.equal("too many users log in at once: try again");
    expect(refused[0]!.headers.get("retry-after")).to.equal("1");
  });
});
