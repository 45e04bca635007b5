import { expect } from "chai";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Context, Contexts, configDir } from "../../../src/cli/remote/contexts.ts";

const context = (name: string): Context => ({
  name,
  url: "https://ci.example",
  user: "bea",
  credentials: { kind: "login", accessToken: "a", refreshToken: "r", expiresAt: 1 },
});

describe("contexts", () => {
  let folder: string;
  let contexts: Contexts;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-contexts-"));
    contexts = new Contexts(folder);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const refusal = (call: Promise<unknown>) =>
    call.then(
      () => "",
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it("are kept, listed, chosen and removed, each in a file of its own", async () => {
    expect(await contexts.list()).to.deep.equal([]);
    expect(await contexts.read("one")).to.equal(undefined);
    await Promise.all(["one", "two"].map((name) => contexts.write(context(name))));
    await contexts.use("two");
    expect(await contexts.list()).to.deep.equal(["one", "two"]);
    expect(await contexts.current()).to.equal("two");
    expect(await contexts.read("two")).to.deep.equal(context("two"));
    await contexts.remove("two");
    expect(await contexts.current()).to.equal(undefined);
    expect(await contexts.list()).to.deep.equal(["one"]);
    expect(await readdir(join(folder, "contexts")), "no temporary file is left").to.deep.equal(["one.json"]);
  });

  it("are read whole while another program writes them", async () => {
    await contexts.write(context("one"));
    const writes = Array.from({ length: 30 }, (_, user) => contexts.write({ ...context("one"), user: `user ${user}` }));
    const reads = Array.from({ length: 30 }, () => contexts.read("one"));
    expect((await Promise.all(reads)).filter((found) => found?.url !== "https://ci.example")).to.deep.equal([]);
    await Promise.all(writes);
  });

  it("are refused when the name leads elsewhere or the file is damaged", async () => {
    for (const name of ["", "..", "../x", "a/b", ".hidden", "-x", "a".repeat(65), "a\n"]) {
      expect(await refusal(contexts.read(name)), name).to.match(/^UsageError: the context/);
      expect(await refusal(contexts.write(context(name))), name).to.match(/^UsageError: the context/);
    }
    await contexts.write(context("one"));
    for (const text of ["", "{", "[]", "null", '{"url":"x","user":"u","credentials":{"kind":"token","token":"t"}}']) {
      await writeFile(join(folder, "contexts", "one.json"), text);
      expect(await refusal(contexts.read("one")), text).to.match(/one.json is damaged: log in again/);
    }
  });

  it("stand below the folder of XDG when it is absolute", () => {
    expect(configDir({ XDG_CONFIG_HOME: "/home/bea/.conf" })).to.equal("/home/bea/.conf/millrace");
    expect(configDir({ XDG_CONFIG_HOME: "relative" })).to.match(/\/\.config\/millrace$/);
    expect(configDir({})).to.match(/\/\.config\/millrace$/);
  });
});
