/** Logs in an object storage, as readers and the upkeep of an installation meet them. */
import { expect } from "chai";
import { removeOrphans } from "../../src/app/content/object-collector.ts";
import { requireReadableLogs } from "../../src/app/content/cold-logs.ts";
import { removeRun } from "../../src/app/runs/remove-run.ts";
import { joinLogs } from "../../src/app/upkeep/join-logs.ts";
import { returnLogs } from "../../src/app/upkeep/return-logs.ts";
import { returnStoredLogs } from "../../src/node/machine/return-logs.ts";
import { asId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import { ColdChunks } from "../../src/stores/format/cold-chunks.ts";
import { ObjectBlobStore } from "../../src/stores/objects/object-blobs.ts";
import { ObjectClient } from "../../src/stores/objects/object-client.ts";
import { COLD_LOG_BYTES, coldBlobIdOf, ColdLogError, type LogLine } from "../../src/stores/ports/logs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { planOf } from "../support/plans.ts";
import { AGENT_ID, GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { UPLOAD_RULES } from "../support/upload-rules.ts";
import { TestViewer } from "../support/viewer.ts";
import { startTestObjectStorage, type TestObjectStorage } from "./storage.ts";

const DAY_MS = 86_400_000;
const AFTER_MS = 60_000;
const LINES = 1_200;
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe("logs in an object storage", function () {
  this.timeout(120_000);
  let storage: TestObjectStorage;
  let proxy: TcpProxy;
  let edge: TestEdge;
  let client: ObjectClient;
  let stores: Stores;
  const cold = new ColdChunks();

  before(async () => {
    storage = await startTestObjectStorage();
    proxy = await TcpProxy.start(storage.port);
    edge = await openTestEdge({ cold });
    client = new ObjectClient(storage.place(proxy.port));
    const blobs = new ObjectBlobStore(client);
    Object.assign(edge.context.stores, { blobs });
    cold.use(blobs);
    stores = edge.context.stores as Stores;
  });
  after(async () => {
    await edge?.close();
    client?.close();
    await proxy?.close();
    await storage?.stop();
  });

  interface Ended {
    readonly run: StoredRun;
    readonly step: StepRunId;
    readonly endedAt: number;
  }
  const line = (number: number): LogLine => ({
    line: number,
    timeMs: 1_700_000_000_000,
    stream: "stdout",
    level: number === 700 ? "error" : "info",
    content: `line ${number} ${"a word ".repeat(12)}`,
    lost: 0,
  });
  /** A step that has ended, with a log that its gateway has told the store of. */
  const endedStep = async (lines = LINES, ends = true): Promise<Ended> => {
    const run = await storeRun(edge.context, planOf([[{ steps: [{ name: "build" }] }]]));
    const step = run.stepIds[0]![0]!;
    await saveTurn(edge.context, run, { steps: [{ stepRunId: step, state: "running", grant: GRANT }] });
    for (let at = 1; at <= lines; at += 50) {
      const chunk = range(at, Math.min(at + 49, lines)).map(line);
      const joining = { fromLine: 1, dueAt: Date.now() };
      await stores.logs.append({ stepRunId: step, agentId: AGENT_ID, lines: chunk, joining });
    }
    const endedAt = Date.now();
    if (ends) {
      await saveTurn(edge.context, run, { steps: [{ stepRunId: step, state: "success", lastLine: lines, endedAt }] });
    }
    return { run, step, endedAt };
  };
  const upkeep = async (now: number): Promise<void> => {
    const clock = { now: () => now, monotonic: () => 0 } as never;
    for await (const _ of joinLogs({ stores, clock, log: silentLog, coldLogs: { afterMs: AFTER_MS } }, 1));
  };
  const isCold = async (step: StepRunId) => (await stores.logs.coldBlobs([step])).length > 0;
  const pathOf = ({ run, step }: Ended, rest = "") =>
    `/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/steps/${step}/logs${rest}`;
  const textOf = async (path: string) => {
    const answer = await fetch(edge.origin + path, { headers: { authorization: `Bearer ${edge.adminToken}` } });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const objects = async (): Promise<readonly string[]> => {
    const names: string[] = [];
    for await (const { name } of client.list("blobs/")) names.push(name.slice("blobs/".length));
    return names;
  };

  it("go there when they are due, and no sooner; small ones and those of running steps stay", async () => {
    const [ended, small] = [await endedStep(), await endedStep(3)];
    const running = await endedStep(LINES, false);
    expect((await stores.logs.size(ended.step)).bytes).to.be.above(COLD_LOG_BYTES);
    await upkeep(ended.endedAt + 1);
    expect((await stores.logs.headers(ended.step, 1, 100)).length, "it is joined").to.be.below(5);
    expect(await isCold(ended.step)).to.equal(false);
    await upkeep(ended.endedAt + AFTER_MS + 5_000);
    expect(await Promise.all([ended, small, running].map(({ step }) => isCold(step)))).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(
      (await stores.logs.dueJoinings(Number.MAX_SAFE_INTEGER, 10)).map(({ stepRunId }) => stepRunId),
    ).to.deep.equal([running.step]);
  });

  it("are read as before by every reader, from few objects", async () => {
    const ended = await endedStep();
    const readAll = async () => ({
      page: (await edge.call("GET", pathOf(ended, "?from=690&limit=30"))).body.detail,
      tail: (await edge.call("GET", pathOf(ended, "?tail=5"))).body.detail,
      around: (await edge.call("GET", pathOf(ended, "?around=600&limit=5"))).body.detail,
      errors: (await edge.call("GET", pathOf(ended, "?level=error"))).body.detail,
      search: (await edge.call("GET", pathOf(ended, "/search?q=line%20777&context=1"))).body.detail.list,
      text: (await textOf(pathOf(ended, "/text?timestamps=true"))).bytes.toString(),
      archive: (await textOf(`/api/v1/pipelines/${ended.run.pipelineId}/runs/${ended.run.runId}/logs/archive`)).status,
      followed: await followed(ended),
    });
    const before = await readAll();
    expect(before.page).to.deep.include({ lines: LINES, firstError: 700, isComplete: true });
    expect(before.followed).to.deep.equal(range(1, LINES));
    await upkeep(ended.endedAt + AFTER_MS + 5_000);
    expect(await isCold(ended.step)).to.equal(true);
    expect(await readAll()).to.deep.equal(before);
    expect(await stores.logs.coldBlobs([ended.step])).to.have.length(1);
  });

  async function followed({ run, step }: Ended): Promise<readonly number[]> {
    const viewer = await TestViewer.open(edge);
    try {
      viewer.send({
        channel: "channel_log",
        params: { pipelineId: run.pipelineId, jobId: run.jobIds[0], stepRunId: step },
      });
      await viewer.next("history_done");
      return viewer.entries.map((entry) => entry.line_number as number);
    } finally {
      await viewer.close();
    }
  }

  it("answer 503 with what to do while the storage is away; live logs and the move of others do not suffer", async () => {
    const [moved, waiting, live] = [await endedStep(), await endedStep(), await endedStep(3)];
    await upkeep(moved.endedAt + 1);
    const { logs } = stores;
    for (const joining of await logs.dueJoinings(Number.MAX_SAFE_INTEGER, 100)) {
      if (joining.stepRunId === waiting.step)
        await logs.putOff(joining, { fromLine: 1, dueAt: moved.endedAt + 9 * AFTER_MS });
    }
    await upkeep(moved.endedAt + AFTER_MS + 5_000);
    expect(await isCold(moved.step)).to.equal(true);
    await proxy.goDown();
    try {
      for (const path of ["?tail=5", "/text", "/search?q=x"]) {
        const { status, bytes } = await textOf(pathOf(moved, path));
        expect(status, path).to.equal(503);
        expect(bytes.toString(), path).to.include("unavailable").and.include("check its address and the network");
      }
      const archive = await textOf(`/api/v1/pipelines/${moved.run.pipelineId}/runs/${moved.run.runId}/logs/archive`);
      expect(archive.status).to.equal(503);
      expect((await textOf(pathOf(live, "/text"))).status).to.equal(200);
      await upkeep(moved.endedAt + 10 * AFTER_MS);
      expect(await isCold(waiting.step)).to.equal(false);
      expect((await textOf(pathOf(waiting, "/text"))).status).to.equal(200);
    } finally {
      await proxy.comeUp();
    }
    const none = await new ColdChunks()
      .linesOf({ blobId: "log_x_1", offset: 0, bytes: 1, compression: "none" }, { first: 1, last: 1 })
      .catch((error: unknown) => error);
    expect(none).to.be.instanceOf(ColdLogError).with.property("message").that.includes("set it as it was");
    await requireReadableLogs({ stores }, [moved.step]);
    expect((await textOf(pathOf(moved, "/text"))).bytes.toString().split("\n")).to.have.length(LINES + 1);
    await upkeep(moved.endedAt + 16 * AFTER_MS);
    expect(await isCold(waiting.step), "it was tried again").to.equal(true);
  });

  it("lose their objects with their runs, or else to the collector, which keeps those of others", async () => {
    const [gone, kept] = [await endedStep(), await endedStep()];
    await upkeep(kept.endedAt + AFTER_MS + 5_000);
    const [object] = await stores.logs.coldBlobs([gone.step]);
    const orphan = coldBlobIdOf(kept.step, "orphan");
    await client.put(`blobs/${orphan}`, Buffer.from("x"));
    const aggregate = await stores.aggregates.load(asId<RunId>(gone.run.runId));
    await removeRun({ ...edge.context, stores }, aggregate!);
    expect(await objects()).to.include(orphan);
    expect(await objects()).not.to.include(object);
    const clock = { now: () => Date.now() + 8 * DAY_MS, monotonic: () => 0 };
    expect(
      await removeOrphans({ stores, clock, log: silentLog, uploadRules: UPLOAD_RULES }, stores.blobs.objects!),
    ).to.equal(1);
    expect(await objects()).to.include.members([...(await stores.logs.coldBlobs([kept.step]))]);
    expect(await objects()).not.to.include(orphan);
  });

  it("come back into the store, so that the installation can leave the storage", async () => {
    const ended = await endedStep();
    const before = await textOf(pathOf(ended, "/text"));
    await upkeep(ended.endedAt + AFTER_MS + 5_000);
    const [object] = await stores.logs.coldBlobs([ended.step]);
    let moved = 0;
    for await (const { logs, incomplete } of returnLogs({ stores }, new AbortController().signal)) {
      moved = logs;
      expect(incomplete).to.deep.equal([]);
    }
    expect(moved).to.be.at.least(1);
    expect(await isCold(ended.step)).to.equal(false);
    expect(await objects(), "a reader may have its name").to.include(object);
    await proxy.goDown();
    try {
      expect(await textOf(pathOf(ended, "/text"))).to.deep.equal(before);
    } finally {
      await proxy.comeUp();
    }
    const clock = { now: () => Date.now() + 8 * DAY_MS, monotonic: () => 0 };
    await removeOrphans({ stores, clock, log: silentLog, uploadRules: UPLOAD_RULES }, stores.blobs.objects!);
    expect(await objects()).not.to.include(object);
  });

  it("come back only when no worker moves logs there meanwhile", async () => {
    for (const [objectStorage, message] of [
      [null, "MILLRACE_OBJECT_STORAGE is not set"],
      [{ logs: { afterMs: 1 } }, "MILLRACE_OBJECT_STORAGE_LOGS is not off"],
    ] as const) {
      const call = returnStoredLogs({ objectStorage } as never, "", new AbortController().signal, () => {});
      expect(await call.catch(String)).to.include(message);
    }
  });
});
