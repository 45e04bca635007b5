import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "../../src/domain/clock.ts";
import { newId } from "../../src/domain/ids.ts";
import { fixedKeys, masterKey } from "../../src/secrets/master-keys.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { ProcessWorld } from "../support/processes.ts";

describe("millrace secrets rotate-key", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let stores: Stores;
  const keys = Array.from({ length: 3 }, () => randomBytes(32));
  const [old, lost, young] = keys.map(masterKey);
  const scope = { projectId: newId("prj"), pipelineId: newId("pl") };
  const vaultWith = (key = old!) =>
    new SecretVault({ store: stores.secrets, keys: fixedKeys([key]), clock: systemClock });

  before(async () => {
    world = await ProcessWorld.create();
    stores = await openSqliteStores({ path: join(world.folder, "data", "millrace.db") });
  });
  after(async () => {
    await stores.close();
    await world.end();
  });

  async function rotate(dataDir: string, environment: Readonly<Record<string, string>>) {
    const started = world.start(["secrets", "rotate-key", "--data-dir", join(world.folder, dataDir)], {
      env: environment,
    });
    const { code } = await started.exited;
    return { code, stdout: started.stdout, stderr: started.stderr };
  }

  it("encrypts secrets again with the first key, and names those that it cannot read", async () => {
    await vaultWith().create({ ...scope, name: "KEPT" }, "a value", "ann");
    await vaultWith(lost).create({ ...scope, name: "LOST" }, "a value", "ann");
    const MILLRACE_MASTER_KEY = [keys[2], keys[0]].map((key) => key!.toString("hex")).join(",");
    const first = await rotate("data", { MILLRACE_MASTER_KEY });
    expect(first.stdout).to.equal(`1 secret was encrypted again, with the master key ${young!.id}\n`);
    expect(first.stderr).to.equal(
      `${scope.pipelineId}: the secret LOST cannot be read: it is sealed with the master key ${lost!.id}, which was not found\n`,
    );
    expect(first.code).to.equal(1);
    expect((await vaultWith(young).read(scope, ["KEPT"])).get("KEPT")).to.equal("a value");
    await stores.secrets.delete({ ...scope, name: "LOST" });
    expect(await rotate("data", { MILLRACE_MASTER_KEY })).to.deep.include({ code: 0, stderr: "" });
    const entries = await stores.audit.page({ area: "installation" }, { limit: 10, descending: true });
    expect(entries.length).to.be.at.least(1);
    for (const { operation, object, from, outcome } of entries) {
      expect({ operation, object: object?.id, door: from.door, outcome }).to.deep.equal({
        operation: "rotateMasterKey",
        object: "masterKey",
        door: "machine",
        outcome: "done",
      });
    }
    const told = JSON.stringify(entries);
    for (const secret of ["a value", ...keys.map((key) => key.toString("hex"))]) expect(told).to.not.include(secret);
  });

  it("says that there is no store, and creates none", async () => {
    for (let round = 0; round < 2; round++) {
      const { code, stderr } = await rotate("nowhere", {});
      expect([code, stderr]).to.satisfy(
        ([status, text]: [number, string]) => status === 1 && text.includes("no store"),
      );
    }
  });
});
