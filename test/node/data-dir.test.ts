import { expect } from "chai";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { claimDataDir, defaultDataDir } from "../../src/node/data-dir.ts";
import { readOrMakeSigningKey } from "../../src/node/signing-key.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import { TSX } from "../support/test-programs.ts";

const CLAIMING = `
  import { claimDataDir } from ${JSON.stringify(new URL("../../src/node/data-dir.ts", import.meta.url).href)};
  await claimDataDir(process.argv[1]);
  process.stdout.write("claimed");
  setInterval(() => {}, 1000);
`;

async function refusal(claim: Promise<unknown>): Promise<MillraceError> {
  const error = await claim.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(MillraceError);
  return error as MillraceError;
}

describe("the data directory", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-data-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("is below XDG_DATA_HOME when that is absolute, else below the home folder", () => {
    expect(defaultDataDir({ XDG_DATA_HOME: "/data" })).to.equal("/data/millrace");
    expect(defaultDataDir({ XDG_DATA_HOME: "relative" })).to.equal(join(homedir(), ".local/share/millrace"));
    expect(defaultDataDir({})).to.equal(join(homedir(), ".local/share/millrace"));
  });

  it("is created for this user only", async () => {
    const dataDir = join(folder, "a", "b");
    (await claimDataDir(dataDir))();
    expect((await stat(dataDir)).mode & 0o777).to.equal(0o700);
  });

  it("is refused while another process has it, and free once that process is killed", async () => {
    const dataDir = join(folder, "data");
    const other: ChildProcess = spawn(
      process.execPath,
      ["--import", TSX, "--input-type=module", "-e", CLAIMING, dataDir],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    try {
      await once(other.stdout!, "data");
      const error = await refusal(claimDataDir(dataDir));
      expect(error.reason).to.equal("conflict");
      expect(error.message).to.equal(`already running (pid ${other.pid}) on ${dataDir}`);
    } finally {
      other.kill("SIGKILL");
      await once(other, "exit");
    }
    (await claimDataDir(dataDir))();
  });

  it("can be claimed again after its release", async () => {
    const release = await claimDataDir(folder);
    await refusal(claimDataDir(folder));
    release();
    (await claimDataDir(folder))();
  });

  it("is refused when its path is a file, and the error says what to do", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const error = await refusal(claimDataDir(join(file, "data")));
    expect(error.reason).to.equal("unavailable");
    expect(error.message).to.contain(file).and.to.contain("--data-dir");
  });

  it("keeps one signing key, which only its owner may read", async () => {
    const keys = await Promise.all([readOrMakeSigningKey(folder), readOrMakeSigningKey(folder)]);
    expect(keys[0]).to.have.length(32);
    expect(keys[0]).to.deep.equal(keys[1]);
    expect(await readOrMakeSigningKey(folder)).to.deep.equal(keys[0]);
    expect((await stat(join(folder, "signing.key"))).mode & 0o777).to.equal(0o600);
  });

  it("is refused when its signing key is damaged", async () => {
    await writeFile(join(folder, "signing.key"), "abc");
    expect((await refusal(readOrMakeSigningKey(folder))).message).to.contain("signing.key is damaged");
  });
});
