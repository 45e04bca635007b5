import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "../../src/domain/clock.ts";
import { newId } from "../../src/domain/ids.ts";
import { readOrMakeMasterKeys, makeMasterKey, masterKeyFile } from "../../src/node/master-key-files.ts";
import { fixedKeys, type KeyRing, masterKey } from "../../src/secrets/master-keys.ts";
import { resealAll } from "../../src/secrets/rotation.ts";
import { UnreadableSecretError } from "../../src/secrets/sealing.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import type { SecretStore } from "../../src/stores/ports/secrets.ts";
import { openTestSqlite } from "../support/stores.ts";

describe("the vault", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let store: SecretStore;
  let folder: string;
  const [old, young] = [masterKey(randomBytes(32)), masterKey(randomBytes(32))];
  const vaultWith = (keys: KeyRing) => new SecretVault({ store, keys, clock: systemClock });

  beforeEach(async () => {
    opened = await openTestSqlite();
    store = opened.stores.secrets;
    folder = await mkdtemp(join(tmpdir(), "millrace-keys-"));
  });
  afterEach(async () => {
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  });

  const scope = { projectId: newId("prj"), pipelineId: newId("pl") };
  const ofProject = (name: string) => ({ projectId: scope.projectId, pipelineId: null, name });
  const read = async (vault: SecretVault, ...names: string[]) => Object.fromEntries(await vault.read(scope, names));

  it("prefers the value of the pipeline to that of its project, and has none for an unset name", async () => {
    const vault = vaultWith(fixedKeys([old]));
    await vault.create(ofProject("A"), "a of project", "ann");
    await vault.create(ofProject("B"), "b of project", "ann");
    await vault.create({ ...scope, name: "A" }, "a of pipeline", "ann");
    await vault.create({ ...scope, pipelineId: newId("pl"), name: "B" }, "b of another", "ann");
    expect(await read(vault, "A", "B", "C")).to.deep.equal({ A: "a of pipeline", B: "b of project" });
    await store.delete({ ...scope, name: "A" });
    expect(await read(vault, "A")).to.deep.equal({ A: "a of project" });
  });

  it("reads and writes secrets while all of them get another key", async () => {
    const before = vaultWith(fixedKeys([old, young]));
    for (let n = 0; n < 250; n++) await before.create(ofProject(`S${n}`), `value ${n}`, "ann");
    await before.create({ ...scope, name: "S0" }, "of the pipeline", "ann");
    const keys = fixedKeys([young, old]);
    const [rotation] = await Promise.all([
      resealAll(store, keys),
      // These values are written by a node that does not have the newest key yet.
      ...Array.from({ length: 50 }, (_, n) => before.replace(ofProject(`S${n * 5}`), `new value ${n * 5}`, "bob")),
      store.delete(ofProject("S249")),
      before.read(scope, ["S1", "S2"]).then((values) => expect(values.size).to.equal(2)),
    ]);
    expect(rotation).to.deep.include({ keyId: young.id, unreadable: [] });
    await resealAll(store, keys);
    expect(await store.pageNotUnder(young.id, null, 10)).to.deep.equal([]);
    const names = Array.from({ length: 249 }, (_, n) => `S${n}`);
    const values = await read(vaultWith(fixedKeys([young])), ...names);
    for (const [n, name] of names.entries()) {
      expect(values[name]).to.equal(n === 0 ? "of the pipeline" : n % 5 === 0 ? `new value ${n}` : `value ${n}`);
    }
    expect(
      (await store.list(ofProject(""), { page: 1, pageSize: 100 })).list.find(({ name }) => name === "S1"),
    ).to.include({ version: 1, updatedBy: "ann" });
  });

  it("resumes a change of the key that was interrupted", async () => {
    const keys = fixedKeys([young, old]);
    const vault = vaultWith(fixedKeys([old]));
    for (let n = 0; n < 10; n++) await vault.create(ofProject(`S${n}`), `value ${n}`, "ann");
    let left = 4;
    const cut: SecretStore = {
      ...store,
      reseal: (secret, seal) => (left-- > 0 ? store.reseal(secret, seal) : Promise.reject(new Error("killed"))),
    };
    await resealAll(cut, keys).catch(() => {});
    expect(Object.keys(await read(vaultWith(keys), "S0", "S9"))).to.have.members(["S0", "S9"]);
    expect(await resealAll(store, keys)).to.include({ resealed: 6 });
    expect(await resealAll(store, keys)).to.include({ resealed: 0 });
  });

  it("keeps a secret that it cannot read, and says which key is missing", async () => {
    const lost = masterKey(randomBytes(32));
    await vaultWith(fixedKeys([lost])).create(ofProject("LOST"), "value", "ann");
    await vaultWith(fixedKeys([old])).create(ofProject("KEPT"), "value", "ann");
    const { resealed, unreadable } = await resealAll(store, fixedKeys([young, old]));
    expect(resealed).to.equal(1);
    expect(unreadable).to.have.length(1);
    expect(unreadable[0]!.reason).to.include(lost.id).and.include("LOST");
    const error = await vaultWith(fixedKeys([young]))
      .read(scope, ["LOST"])
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(UnreadableSecretError);
    expect(await read(vaultWith(fixedKeys([young, lost])), "LOST", "KEPT")).to.deep.equal({
      LOST: "value",
      KEPT: "value",
    });
  });

  describe("with keys in files", () => {
    it("makes the first key once, readable by this user only, and finds new keys later", async () => {
      const [one, other] = await Promise.all([readOrMakeMasterKeys(folder), readOrMakeMasterKeys(folder)]);
      expect(await one.newest()).to.deep.equal(await other.newest());
      expect((await stat(masterKeyFile(folder, 1))).mode & 0o777).to.equal(0o600);
      await vaultWith(one).create(ofProject("A"), "first", "ann");
      await Promise.all([makeMasterKey(folder, 1), makeMasterKey(folder, 1)]);
      const now = await readOrMakeMasterKeys(folder);
      expect((await now.newest()).id).not.to.equal(
        (await store.list(ofProject(""), { page: 1, pageSize: 1 })).list[0]!.keyId,
      );
      expect(await resealAll(store, now)).to.include({ resealed: 1 });
      expect(await read(vaultWith(other), "A"), "by a process that knew the first alone").to.deep.equal({ A: "first" });
      await vaultWith(one).replace(ofProject("A"), "second", "ann");
      expect(await store.pageNotUnder((await now.newest()).id, null, 10)).to.deep.equal([]);
    });

    it("names a damaged file, and never replaces it", async () => {
      await readOrMakeMasterKeys(folder);
      await writeFile(masterKeyFile(folder, 1), "hunter22");
      const error = await readOrMakeMasterKeys(folder).catch((caught: unknown) => caught);
      expect(error).to.include({ reason: "unavailable" });
      expect((error as Error).message)
        .to.include("no. 1")
        .and.not.include("hunter");
    });
  });
});
