import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { clearDrafts, PluginCache } from "../../../src/agent/builtins/plugin/plugin-cache.ts";
import { writePackage } from "../../../src/plugins/package.ts";
import { fileOf, greeter } from "../../support/plugin-packages.ts";
import { SILENT } from "../test-agent.ts";

interface Package {
  readonly packed: Uint8Array;
  readonly sha256: string;
}

describe("the cache of plugins", () => {
  let folder: string;
  let fetches: number;
  const { signal } = new AbortController();
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-plugins-"));
    fetches = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const packageOf = async (name: string, bytes = 10): Promise<Package> => {
    const packed = await writePackage([...greeter("1.0.0", { name }), fileOf("data", "x".repeat(bytes))]);
    return { packed, sha256: createHash("sha256").update(packed).digest("hex") };
  };
  const wanted = ({ packed, sha256 }: Package, until: Promise<unknown> = Promise.resolve()) => ({
    uses: "team/greet@1.0.0",
    sha256,
    sizeBytes: packed.length,
    signal,
    fetch: async () => {
      fetches++;
      await until;
      return packed;
    },
  });
  const open = (limitBytes = 1e9) => new PluginCache({ folder: join(folder, "plugins"), limitBytes, log: SILENT });
  const kept = async (): Promise<readonly string[]> => (await readdir(join(folder, "plugins"))).toSorted();
  const reason = async (call: Promise<unknown>): Promise<string> => {
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    return (error as Error).message;
  };

  it("fetches a plugin once for several steps, and not again after a restart", async () => {
    const one = await packageOf("a");
    const cache = open();
    const found = await Promise.all([1, 2, 3].map(() => cache.obtain(wanted(one))));
    const again = await open().obtain(wanted(one));
    expect(fetches).to.equal(1);
    for (const { folder: place } of [...found, again]) {
      expect(await readFile(join(place, "bin/greet.sh"), "utf8")).to.include("MILLRACE_ACTION");
    }
  });

  it("fetches a plugin again that was changed or removed, or is not executable any more", async () => {
    const one = await packageOf("a");
    const cache = open();
    const { folder: place } = await cache.obtain(wanted(one));
    const script = join(place, "bin/greet.sh");
    const changes: readonly (() => Promise<unknown>)[] = [
      async () => {
        await chmod(script, 0o755);
        await writeFile(script, "exit 7");
      },
      () => chmod(script, 0o444),
      () => rm(script, { force: true }),
      () => rm(join(place, "../files.json")),
      () => writeFile(join(place, "../files.json"), "{"),
    ];
    for (const [index, change] of changes.entries()) {
      await change();
      await cache.obtain(wanted(one));
      expect(fetches, `change ${index}`).to.equal(index + 2);
      expect(await readFile(script, "utf8")).to.include("MILLRACE_ACTION");
    }
  });

  it("uses and keeps no package with another checksum", async () => {
    const [one, other] = [await packageOf("a"), await packageOf("b")];
    const cache = open();
    await cache.obtain(wanted(other));
    const forged = { ...wanted(one), fetch: () => Promise.resolve(other.packed) };
    expect(await reason(cache.obtain(forged))).to.include(
      `has the checksum ${other.sha256}, and this run was planned with`,
    );
    expect(await kept()).to.deep.equal([other.sha256]);
    await cache.obtain(wanted(one));
    expect(await reason(cache.obtain({ ...wanted(one), sha256: "../../etc" }))).to.include("without a checksum");
  });

  it("releases a step that is aborted, while the others get the plugin", async () => {
    const one = await packageOf("a");
    const cache = open();
    const impatient = new AbortController();
    let arrive = (): void => {};
    const first = cache.obtain(wanted(one, new Promise<void>((resolve) => (arrive = resolve))));
    const second = cache.obtain({ ...wanted(one), signal: impatient.signal });
    impatient.abort(new Error("stopped"));
    expect(await reason(second)).to.equal("stopped");
    arrive();
    await first;
    expect(fetches).to.equal(1);
  });

  it("serves the other steps when the fetch of one step fails", async () => {
    const one = await packageOf("a");
    const cache = open();
    const failing = cache.obtain({ ...wanted(one), fetch: () => Promise.reject(new Error("no network")) });
    const other = cache.obtain(wanted(one));
    expect(await reason(failing)).to.equal("no network");
    await other;
    expect(fetches).to.equal(1);
  });

  it("removes the plugins that were not used for the longest time, and none in use", async () => {
    const [a, b, c, d] = await Promise.all(["a", "b", "c", "d"].map((name) => packageOf(name, 100_000)));
    const cache = open(250_000);
    const usedAt = async ({ sha256 }: Package, seconds: number) =>
      utimes(join(folder, "plugins", sha256, "files.json"), seconds, seconds);
    const held = await cache.obtain(wanted(a!));
    await usedAt(a!, 1_000);
    (await cache.obtain(wanted(b!))).release();
    await usedAt(b!, 2_000);
    (await cache.obtain(wanted(c!))).release();
    expect(await kept(), "the oldest is in use").to.deep.equal([a!.sha256, c!.sha256].toSorted());
    held.release();
    held.release();
    (await cache.obtain(wanted(d!))).release();
    expect(await kept()).to.deep.equal([c!.sha256, d!.sha256].toSorted());
  });

  it("loses the unfinished folders of a killed agent", async () => {
    const one = await packageOf("a");
    await open().obtain(wanted(one));
    await mkdir(join(folder, "plugins/.new-1/plugin"), { recursive: true });
    await clearDrafts(join(folder, "plugins"));
    await clearDrafts(join(folder, "none"));
    expect(await kept()).to.deep.equal([one.sha256]);
  });
});
