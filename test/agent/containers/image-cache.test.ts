/** The bound of the images that an agent has pulled, with images from files. `CONTAINERS=whole` alone, where an engine works. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { ContainerEngine } from "../../../src/agent/containers/engine.ts";
import { type HeldImage, ImageCache } from "../../../src/agent/containers/image-cache.ts";
import { openTestEngine } from "../../support/container-engine.ts";
import { SILENT } from "../test-agent.ts";

const BYTES = 1_000_000;
const engine = process.env["CONTAINERS"] === "whole" ? await openTestEngine() : undefined;

if (engine !== undefined)
  describe("the images that an agent has pulled", function () {
    this.timeout(60_000);
    const prefix = `localhost/millrace-cache-${process.pid}`;
    let folder: string;
    let now = 0;
    before(() => (folder = mkdtempSync(join(tmpdir(), "millrace-cache-"))));
    after(() => rmSync(folder, { recursive: true }));
    afterEach(async () => {
      const ids = (await engine.ask("images", "-q", "--filter", `reference=${prefix}/*`)).trim();
      if (ids !== "") await engine.ask("rmi", "-f", ...new Set(ids.split("\n")));
    });

    const nameOf = (name: string) => `${prefix}/${name}:1`;
    /** Brings an image of somewhat more than {@link BYTES} into the engine. */
    async function make(name: string): Promise<void> {
      const archive = join(folder, `${name}.tar`);
      writeFileSync(join(folder, name), name.padEnd(BYTES));
      await promisify(execFile)("tar", ["-C", folder, "-cf", archive, name]);
      await engine!.ask("import", archive, nameOf(name));
    }
    const open = (images: number) =>
      new ImageCache({
        engine: new ContainerEngine(engine.kind),
        file: join(folder, "images.json"),
        limitBytes: images * BYTES * 1.2,
        clock: { now: () => ++now },
        log: SILENT,
      });
    const pull = async (cache: ImageCache, name: string): Promise<HeldImage> =>
      (await cache.pull(nameOf(name), [nameOf(name)], () => make(name)))!;
    const left = async (): Promise<string> => {
      const names = await engine.ask("images", "--filter", `reference=${prefix}/*`, "--format", "{{.Repository}}");
      return [...names.matchAll(/\/(\w+)$/gm)]
        .map(([, name]) => name!)
        .toSorted()
        .join(" ");
    };

    it("are removed beyond the bound, the oldest used first, also by a later agent; those in use stay", async () => {
      const first = open(3);
      for (const name of ["a", "b", "c"]) (await pull(first, name)).release();
      (await first.hold([nameOf("a")]))!.release();
      await first.trim();
      expect(await left()).to.equal("a b c");
      const second = open(3);
      const c = (await second.hold([nameOf("c")]))!;
      const d = await pull(second, "d");
      await second.trim();
      expect(await left(), "b was used before a").to.equal("a c d");
      const third = open(1);
      const held = (await third.hold([nameOf("c")]))!;
      await third.trim();
      expect(await left(), "c is in use").to.equal("c");
      for (const image of [c, d, held]) image.release();
      await third.trim();
      expect(await left(), "it is within the bound").to.equal("c");
    });

    it("do not count as the agent's when they were there before, have another name too, or a container of others", async () => {
      const cache = open(0.1);
      await make("own");
      (await cache.pull(nameOf("own"), [nameOf("own")], () => Promise.resolve()))!.release();
      (await pull(cache, "gone")).release();
      const other = await pull(cache, "other");
      await engine.ask("tag", nameOf("other"), nameOf("mine"));
      other.release();
      const used = await pull(cache, "used");
      await engine.ask("create", "--name", `millrace-cache-${process.pid}`, nameOf("used"), "/none");
      used.release();
      await cache.trim();
      expect(await left()).to.equal("mine other own used");
      await engine.ask("rm", `millrace-cache-${process.pid}`);
      await cache.trim();
      expect(await left()).to.equal("mine other own");
    });
  });
