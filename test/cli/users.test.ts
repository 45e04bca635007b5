import { userInfo } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { authenticate } from "../../src/app/identity/access.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { newId } from "../../src/domain/ids.ts";
import type { User } from "../../src/stores/ports/identity.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { ProcessWorld } from "../support/processes.ts";

describe("millrace users make-owner", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  /** Open as that of a node, which may run meanwhile. */
  let stores: Stores;

  before(async () => {
    world = await ProcessWorld.create();
    stores = await openSqliteStores({ path: join(world.folder, "data", "millrace.db") });
  });
  after(async () => {
    await stores.close();
    await world.end();
  });

  async function run(args: readonly string[], dataDir = "data") {
    const started = world.start(["users", "make-owner", ...args, "--data-dir", join(world.folder, dataDir)]);
    const { code } = await started.exited;
    return { code, text: started.stdout + started.stderr };
  }
  async function userWith(name: string, fields: Partial<User>): Promise<User> {
    const user = {
      userId: newId("usr"),
      name,
      role: null,
      passwordHash: "h",
      createdAt: 1,
      disabled: false,
      ...fields,
    };
    await stores.identity.createUser(user);
    return user;
  }

  it("makes a lost owner an owner again, whatever the user is now, and gives a token when asked", async () => {
    const ann = await userWith("ann", { disabled: true });
    expect(await run(["ann"])).to.deep.equal({ code: 0, text: "ann is an owner now\n" });
    expect(await stores.identity.findUser(ann.userId)).to.deep.equal({ ...ann, role: "owner", disabled: false });
    const { code, text } = await run(["ann", "--reset"]);
    expect(code).to.equal(0);
    expect(text).to.match(/^ann is an owner already\n.*valid for one hour/);
    expect((await stores.identity.findUser(ann.userId))!.passwordHash).to.equal("");
    const token = /^mrt_\S+$/m.exec(text)![0];
    const [entry, ...others] = await stores.audit.page({ area: "installation" }, { limit: 10, descending: true });
    expect([entry, ...others].map((one) => one!.operation)).to.deep.equal(["makeOwner", "makeOwner"]);
    expect(others[0]!.after).to.deep.include({ role: "owner", disabled: false });
    expect(others[0]!.object).to.deep.equal({ kind: "user", id: ann.userId, name: "ann" });
    expect(entry!.from.door).to.equal("machine");
    expect(entry!.actor).to.include({ kind: "operator", name: userInfo().username });
    const context = { clock: systemClock, stores, signingKey: new Uint8Array(32) };
    expect(await authenticate(context, token)).to.include({ name: "ann", role: "owner" });
  });

  it("refuses an unknown user, a service account, and a directory without a store", async () => {
    await userWith("deployer", { ownedBy: { projectId: newId("prj") } });
    const unknown = await run(["bob"]);
    expect(unknown.code).to.not.equal(0);
    expect(unknown.text).to.include("the users are: ann").and.not.include("deployer");
    expect((await run(["deployer"])).text).to.include("is a service account");
    expect((await stores.identity.findUserByName("deployer"))!.role).to.equal(null);
    expect((await run(["ann"], "none")).text).to.include("there is no store in");
  });
});
