import { expect } from "chai";
import { ROLES } from "../../src/domain/roles.ts";
import { openTestEdge, type Answer, type TestEdge } from "../support/edge.ts";

const PASSWORD = "correct horse battery";
const NEXT_PASSWORD = "another horse battery";

describe("changes of users over HTTP", () => {
  let edge: TestEdge;
  let made = 0;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  interface Person {
    readonly userId: string;
    readonly name: string;
    readonly path: string;
  }

  async function person(role: string): Promise<Person> {
    const name = `person-${made++}`;
    const { body } = await edge.call("POST", "/api/v1/users", { body: { name, role, password: PASSWORD } });
    return { userId: body.detail.userId, name, path: `/api/v1/users/${body.detail.userId}` };
  }
  const login = (name: string, password = PASSWORD): Promise<Answer> =>
    edge.call("POST", "/api/v1/auth/login", { token: null, body: { name, password } });
  const tokenOf = async (name: string): Promise<string> => (await login(name)).body.detail.accessToken;
  const statusOf = async (token: string): Promise<number> =>
    (await edge.call("GET", "/api/v1/whoami", { token })).status;

  it("tells callers who they are and what they may do", async () => {
    const { name } = await person("operator");
    const token = await tokenOf(name);
    const { detail } = (await edge.call("GET", "/api/v1/whoami", { token })).body;
    expect(detail.user).to.include({ name, role: "operator", disabled: false });
    expect(detail.scopes).to.deep.equal([]);
    expect(detail.operations).to.include("triggerRun").and.not.to.include("writePipelines");
    const body = { name: "reader", scopes: ["read"] };
    const narrowed = (await edge.call("POST", "/api/v1/users/me/tokens", { token, body })).body.detail.token;
    const narrow = (await edge.call("GET", "/api/v1/whoami", { token: narrowed })).body.detail;
    expect(narrow).to.deep.include({ scopes: ["read"] });
    expect(narrow.operations).to.include("readRuns").and.not.to.include("triggerRun");
    const refused = await edge.call("POST", "/api/v1/users/me/tokens", { token: narrowed, body: { name: "wider" } });
    expect(refused.body).to.include({ code: 403, reason: "forbidden" });
    expect(refused.body.errMsg).to.include("scope admin");
    const roles = (await edge.call("GET", "/api/v1/roles", { token: narrowed })).body.detail;
    expect(roles.list.map(({ role }: { role: string }) => role)).to.deep.equal([...ROLES]);
    expect(roles.list.at(-1).operations).to.include("readRuns").and.not.to.include("triggerRun");
  });

  it("disables a user at once, with tokens and logins, and enables the user again", async () => {
    const { name, path } = await person("viewer");
    const token = await tokenOf(name);
    const personal = (await edge.call("POST", `${path}/tokens`, { body: { name: "ci" } })).body.detail.token;
    const disabled = await edge.call("PATCH", path, { body: { disabled: true } });
    expect(disabled.body.detail).to.include({ name, disabled: true });
    for (const one of [token, personal]) expect(await statusOf(one)).to.equal(401);
    expect((await login(name)).status).to.equal(401);
    await edge.call("PATCH", path, { body: { disabled: false } });
    for (const one of [token, personal]) expect(await statusOf(one)).to.equal(200);
    expect((await login(name)).status).to.equal(200);
  });

  it("renames a user and changes the role, which counts from the next call on", async () => {
    const [one, other] = [await person("viewer"), await person("viewer")];
    const token = await tokenOf(one.name);
    expect((await edge.call("GET", "/api/v1/cluster", { token })).status).to.equal(403);
    const changed = await edge.call("PATCH", one.path, { body: { role: "admin", name: "renamed" } });
    expect(changed.body.detail).to.include({ role: "admin", name: "renamed" });
    expect((await edge.call("GET", "/api/v1/users/me", { token })).body.detail).to.deep.equal(changed.body.detail);
    expect((await edge.call("GET", one.path)).body.detail).to.deep.equal(changed.body.detail);
    const taken = await edge.call("PATCH", other.path, { body: { name: "renamed" } });
    expect(taken.body).to.include({ code: 409, reason: "already_exists" });
    const empty = await edge.call("PATCH", other.path, { body: {} });
    expect(empty.body).to.include({ code: 400, reason: "malformed_request" });
    const bad = await edge.call("PATCH", other.path, { body: { name: "a b", role: "king", disabled: "no", more: 1 } });
    const pointers = bad.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.include.members(["/name", "/role", "/disabled"]);
  });

  it("sets one's own password with the current one, and then ends the earlier logins", async () => {
    const { name } = await person("viewer");
    const token = await tokenOf(name);
    const personal = (await edge.call("POST", "/api/v1/users/me/tokens", { token, body: { name: "ci" } })).body.detail;
    const set = (body: object): Promise<Answer> => edge.call("PUT", "/api/v1/users/me/password", { token, body });
    for (const currentPassword of [undefined, "wrong"]) {
      expect((await set({ password: NEXT_PASSWORD, currentPassword })).body).to.include({ reason: "forbidden" });
    }
    expect((await set({ password: "short", currentPassword: PASSWORD })).body.errors[0].pointer).to.equal("/password");
    expect((await set({ password: NEXT_PASSWORD, currentPassword: PASSWORD })).status).to.equal(200);
    expect(await statusOf(token)).to.equal(401);
    expect(await statusOf(personal.token)).to.equal(200);
    expect((await login(name)).status).to.equal(401);
    expect(await statusOf((await login(name, NEXT_PASSWORD)).body.detail.accessToken)).to.equal(200);
  });

  it("lets an administrator reset a password and end the logins of a user, without the current password", async () => {
    const { name, path } = await person("maintainer");
    const first = await tokenOf(name);
    expect((await edge.call("DELETE", `${path}/logins`)).status).to.equal(200);
    expect(await statusOf(first)).to.equal(401);
    const second = await tokenOf(name);
    expect(await statusOf(second)).to.equal(200);
    expect((await edge.call("PUT", `${path}/password`, { body: { password: NEXT_PASSWORD } })).status).to.equal(200);
    expect(await statusOf(second)).to.equal(401);
    expect((await login(name, NEXT_PASSWORD)).status).to.equal(200);
  });

  it("removes a user with all tokens, and lets a new user have the name", async () => {
    const { name, path } = await person("operator");
    const personal = (await edge.call("POST", `${path}/tokens`, { body: { name: "ci" } })).body.detail.token;
    expect((await edge.call("DELETE", path)).status).to.equal(200);
    expect(await statusOf(personal)).to.equal(401);
    for (const [method, body] of [["GET"], ["PATCH", { disabled: true }], ["DELETE"]] as const) {
      const answer = await edge.call(method, path, body === undefined ? {} : { body });
      expect(answer.body, method).to.include({ code: 404, reason: "not_found" });
    }
    expect((await edge.call("POST", "/api/v1/users", { body: { name, role: "viewer" } })).status).to.equal(200);
  });

  it("lets no user reach a role above the own one, nor others without being an administrator", async () => {
    const [admin, viewer] = [await edge.userWithRole("admin"), await edge.userWithRole("viewer")];
    const owner = (await edge.call("GET", "/api/v1/whoami")).body.detail.user;
    const path = `/api/v1/users/${owner.userId}`;
    for (const [method, at, body] of [
      ["PATCH", path, { disabled: true }],
      ["DELETE", path, undefined],
      ["PUT", `${path}/password`, { password: NEXT_PASSWORD }],
      ["DELETE", `${path}/logins`, undefined],
    ] as const) {
      for (const { token } of [admin, viewer]) {
        const answer = await edge.call(method, at, { token, ...(body && { body }) });
        expect(answer.body, `${method} ${at}`).to.include({ code: 403, reason: "forbidden" });
      }
    }
    const other = await person("viewer");
    expect((await edge.call("GET", other.path, { token: viewer.token })).status).to.equal(403);
    const above = await edge.call("PATCH", other.path, { token: admin.token, body: { role: "owner" } });
    expect(above.body).to.include({ code: 403, reason: "forbidden" });
    const own = await edge.call("PATCH", "/api/v1/users/me", { token: viewer.token, body: { role: "owner" } });
    expect(own.body).to.include({ code: 403, reason: "forbidden" });
  });

  it("keeps the last owner, also when two owners demote each other at once", async () => {
    const [one, two] = [await person("owner"), await person("owner")];
    const tokens = [await tokenOf(one.name), await tokenOf(two.name)];
    const { userId } = (await edge.call("GET", "/api/v1/whoami")).body.detail.user;
    const first = `/api/v1/users/${userId}`;
    await edge.call("PATCH", first, { token: tokens[0]!, body: { role: "admin" } });
    const body = { role: "viewer" };
    const answers = await Promise.all([
      edge.call("PATCH", two.path, { token: tokens[0]!, body }),
      edge.call("PATCH", one.path, { token: tokens[1]!, body }),
    ]);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).to.have.length(1);
    expect(refused[0]!.body.reason).to.be.oneOf(["conflict", "forbidden"]);
    const last = answers[0]!.status === 200 ? 0 : 1;
    const gone = await edge.call("DELETE", [one, two][last]!.path, { token: tokens[last]! });
    expect(gone.body).to.include({ code: 409, reason: "conflict" });
    expect(gone.body.errMsg).to.include("last owner");
    await edge.call("PATCH", first, { token: tokens[last]!, body: { role: "owner" } });
  });
});
