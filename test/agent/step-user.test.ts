/** Steps as another user than the agent's. Only root may start processes as another user: without it, the agent says so. */
import { chmod, chown, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { expect } from "chai";
import { IfMissing } from "../../proto/generated/agent/v1/agent.ts";
import { findFiles } from "../../src/agent/builtins/artifact/artifact-files.ts";
import { ArtifactPlacement } from "../../src/agent/builtins/artifact/artifact-placement.ts";
import { packCache } from "../../src/agent/builtins/cache/cache-pack.ts";
import { readCachePaths } from "../../src/agent/builtins/cache/cache-paths.ts";
import { unpackCache } from "../../src/agent/builtins/cache/cache-unpack.ts";
import { findStepUser } from "../../src/agent/process/step-user.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { AgentBench } from "./test-agent.ts";

/** A user that every system has. */
const OTHER = "daemon";
const { signal } = new AbortController();
const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "",
    (error: Error) => error.message,
  );

describe("a step as another user", () => {
  let bench: AgentBench;
  beforeEach(async () => (bench = await new AgentBench().open()));
  afterEach(() => bench.end());

  if (process.geteuid!() !== 0) {
    it("is refused at the start of an agent that may not start it", async () => {
      expect(await reasonOf(bench.start({ stepUser: OTHER }))).to.include("CAP_SETUID");
    });
    return;
  }

  const run = async (script: string, more: object = {}) => {
    bench.gateway.dispatch({ script, ...more });
    const end = await bench.gateway.endOf();
    return { end, log: (await bench.gateway.logOf(end.lastLine)).map(({ content }) => content) };
  };

  it("is possible with the compiled program", async () => {
    const world = await ProcessWorld.create();
    try {
      await chmod(world.folder, 0o755);
      const env = { MILLRACE_STEP_USER: OTHER, MILLRACE_REGISTRATION_TOKEN: "none", LOG_LEVEL: "info" };
      // No gateway listens there: an agent that may run steps as the user tries to connect.
      await world.agent("127.0.0.1:1", { env }).prints("cannot register yet");
    } finally {
      await world.end();
    }
  });

  it("reads neither the token nor the journal, and has its files, outputs and both streams", async () => {
    await bench.start({ stepUser: OTHER });
    const { end, log } = await run(
      `id -un; id -G; echo "$USER $HOME"; echo made > file; stat -c %U . file
       echo "to stderr" >&2; echo more > /dev/stderr
       cd "${bench.dataDir}"
       for path in identity.json journal.jsonl agent-lock.db; do
         if cat $path >/dev/null 2>&1 || echo x 2>/dev/null >> $path; then echo "reads $path"; fi
       done
       for path in . work scratch plugins; do if ls $path >/dev/null 2>&1; then echo "lists $path"; fi; done
       if rm scratch/permit-1 "$MILLRACE_OUTPUT" 2>/dev/null; then echo "removes files"; fi
       if kill -0 ${process.pid} 2>/dev/null || cat /proc/${process.pid}/environ >/dev/null 2>&1; then echo "reaches the agent"; fi
       echo "version=1.2" >> "$MILLRACE_OUTPUT"`,
    );
    expect(end, log.join("\n")).to.deep.include({ phase: "STEP_PHASE_SUCCEEDED", outputs: { version: "1.2" } });
    const { gid, home } = await findStepUser(OTHER);
    expect(log).to.have.members([OTHER, OTHER, OTHER, `${gid}`, `${OTHER} ${home}`, "to stderr", "more"]);
    expect((await stat(join(bench.dataDir, "identity.json"))).mode & 0o777).to.equal(0o600);
  });

  it("is ended with all that it has started, when it is cancelled and at its end", async () => {
    await bench.start({ stepUser: OTHER });
    const mark = `step-user-${process.pid}-${Date.now()}`;
    const processes = async (): Promise<number> => {
      let found = 0;
      for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
        const text = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
        if (text.includes(mark)) found++;
      }
      return found;
    };
    bench.gateway.dispatch({ script: `export M=${mark}; setsid sleep 1000 & setsid sleep 1000 & sleep 1000` });
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    await until("its processes", async () => (await processes()) >= 3);
    const revoke = { jobId: "job_1", stepRunId: "step_1", token: 1n, graceMs: 200n, reason: "stop" };
    bench.gateway.send({ $case: "revoke", value: revoke });
    expect((await bench.gateway.endOf()).phase).to.equal("STEP_PHASE_CANCELLED");
    expect(await processes()).to.equal(0);
    const ids = { stepRunId: "step_2", token: 2n };
    bench.gateway.dispatch({ ...ids, script: `export M=${mark}; setsid sleep 1000 & sleep 0.2; exit 3` });
    expect((await bench.gateway.endOf("step_2")).exitCode).to.equal(3);
    expect(await processes()).to.equal(0);
  });

  it("keeps artifacts of its own files, and none of another user's", async () => {
    await bench.start({ stepUser: OTHER });
    const artifacts = [{ name: "out", paths: ["out"], ifMissing: IfMissing.IF_MISSING_ERROR }];
    const workspace = join(bench.dataDir, "work", "job_1");
    bench.gateway.dispatch({ script: `mkdir out; while [ ! -e go ]; do sleep 0.05; done`, artifacts });
    await until("the folder", () =>
      stat(join(workspace, "out")).then(
        () => true,
        () => false,
      ),
    );
    // As a hard link would, where the system allows it: the name is in the workspace, the file is the agent's.
    await link(join(bench.dataDir, "identity.json"), join(workspace, "out", "token"));
    await writeFile(join(workspace, "go"), "");
    const end = await bench.gateway.endOf();
    expect(end.phase).to.equal("STEP_PHASE_FAILED");
    expect(end.reason).to.include('"out/token" belongs to another user');
  });

  it("checks out with its own files, and runs a plugin's or shell's arguments from files that only it may read", async () => {
    await bench.start({ stepUser: OTHER });
    bench.gateway.dispatch({ uses: "checkout", argsJson: JSON.stringify({ repo: join(bench.dataDir, "none") }) });
    const end = await bench.gateway.endOf();
    // Its process ran and refused the address: without its own home and the program it could not have told.
    expect(end.reason).to.match(/^exit code \d+: /);
  });

  it("is refused with a reason when the user is unknown, is root, or cannot enter the data directory", async () => {
    expect(await reasonOf(bench.start({ stepUser: "no-such-user" }))).to.include("this machine has no such user");
    expect(await reasonOf(bench.start({ stepUser: "a b; id" }))).to.include("this is no name of a user");
    expect(await reasonOf(bench.start({ stepUser: "root" }))).to.include("root can read all that the agent can");
    const closed = join(bench.dataDir, "closed");
    await mkdir(closed, { mode: 0o700 });
    const refused = await reasonOf(bench.start({ stepUser: OTHER, dataDir: join(closed, "agent") }));
    expect(refused).to.match(
      /cannot enter .*closed.*: choose a data directory whose parent folders every user may enter/,
    );
  });

  describe("and what the agent itself puts into its workspace", () => {
    let workspace: string;
    let scratch: string;
    let uid: number;
    beforeEach(async () => {
      workspace = await mkdtemp(join(tmpdir(), "millrace-workspace-"));
      scratch = await mkdtemp(join(tmpdir(), "millrace-scratch-"));
      const user = await findStepUser(OTHER);
      uid = user.uid;
      await chown(workspace, uid, user.gid);
    });
    afterEach(() => Promise.all([workspace, scratch].map((folder) => rm(folder, { recursive: true, force: true }))));
    const ownersOf = async (...paths: string[]) =>
      Promise.all(paths.map(async (path) => (await stat(join(workspace, path))).uid));

    it("belongs to the user: files of artifacts and of caches, with their folders", async () => {
      const sha256 = createHash("sha256").update("hello").digest("hex");
      const file = { path: "a/b/file", sizeBytes: 5, sha256, executable: false };
      const placement = new ArtifactPlacement(workspace, "got", [file]);
      await placement.write(Buffer.from("hello"));
      expect(await ownersOf("got", "got/a/b", "got/a/b/file")).to.deep.equal([uid, uid, uid]);
      const patterns = readCachePaths(["got"], (text) => new Error(text));
      const archive = join(scratch, "archive");
      await packCache(workspace, patterns, archive, { signal, mostBytes: 1_000_000 });
      await rm(join(workspace, "got"), { recursive: true });
      expect(await unpackCache(archive, workspace, patterns, signal)).to.equal(1);
      expect(await ownersOf("got", "got/a/b", "got/a/b/file")).to.deep.equal([uid, uid, uid]);
    });

    it("is never read from files of another user, nor written behind a link", async () => {
      await writeFile(join(scratch, "secret"), "of the agent");
      await mkdir(join(workspace, "out"));
      await link(join(scratch, "secret"), join(workspace, "out", "linked"));
      expect(await reasonOf(findFiles(workspace, ["out"], signal))).to.include("belongs to another user");
      const patterns = readCachePaths(["out"], (text) => new Error(text));
      expect(
        await reasonOf(packCache(workspace, patterns, join(scratch, "archive"), { signal, mostBytes: 1_000_000 })),
      ).to.include("another user");
      await symlink(scratch, join(workspace, "away"));
      const file = { path: "away/file", sizeBytes: 0, sha256: createHash("sha256").digest("hex"), executable: false };
      expect(await reasonOf(new ArtifactPlacement(workspace, "", [file]).write(Buffer.alloc(0)))).to.include(
        "no folder",
      );
    });
  });
});
