/** Named pipes for the output of steps, with a process that writes into them. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { FifoPool, type OutputPipe } from "../../../src/agent/process/fifo-pool.ts";

describe("a pool of pipes", () => {
  let folder: string;
  let pool: FifoPool;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-pipes-"));
    pool = new FifoPool(folder);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const use = async (pipe: OutputPipe, words: string): Promise<string> => {
    execFileSync("sh", ["-c", 'printf %s "$1" >"$2"', "sh", words, pipe.path]);
    pipe.closeWriteEnd();
    return text(pipe.reader);
  };

  it("gives each step a pipe of its own, and brings all that is written into it", async () => {
    const paths = new Set<string>();
    for (let step = 0; step < 10; step++) {
      const [stdout, stderr] = [pool.open(), pool.open()];
      paths.add(stdout.path);
      expect(stdout.path).not.to.equal(stderr.path);
      await nextTurn();
      expect(await Promise.all([use(stdout, `out ${step}`), use(stderr, "")])).to.deep.equal([`out ${step}`, ""]);
    }
    expect(paths.size).to.be.greaterThan(1);
  });

  it("gives no pipe that another process has removed", async () => {
    const first = pool.open();
    await nextTurn();
    const ready = pool.open();
    await nextTurn();
    rmSync(folder, { recursive: true });
    const next = pool.open();
    expect(await use(next, "words")).to.equal("words");
    for (const pipe of [first, ready]) {
      pipe.closeWriteEnd();
      pipe.reader.destroy();
    }
  });

  it("keeps no process alive", () => {
    const script = `
      import { FifoPool } from ${JSON.stringify(new URL("../../../src/agent/process/fifo-pool.ts", import.meta.url).href)};
      const pipe = new FifoPool(${JSON.stringify(join(folder, "own"))}).open();
      setTimeout(() => { pipe.closeWriteEnd(); pipe.reader.destroy(); }, 50);
    `;
    execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], { timeout: 20_000 });
  });
});
