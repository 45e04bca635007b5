import { expect } from "chai";
import type { ScheduleState } from "../../../actors/schedule/state.ts";
import { saveSpec } from "../../../src/app/catalogue/definitions.ts";
import { saveBody } from "../../../src/app/catalogue/spec-shapes.ts";
import { saveHead } from "../../../src/app/catalogue/timetable.ts";
import { createPipeline, deletePipeline } from "../../../src/app/catalogue/pipelines.ts";
import { stopRun } from "../../../src/app/commands/run-commands.ts";
import type { UserCaller } from "../../../src/app/identity/access.ts";
import { forgetProjectFacts } from "../../../src/app/project-facts.ts";
import { pauseSchedule, resumeSchedule } from "../../../src/app/schedules/pause-schedule.ts";
import { getSchedule, listSchedules } from "../../../src/app/schedules/read-schedules.ts";
import { schedulePort } from "../../../src/app/schedules/schedule-port.ts";
import type { StartRunEffect } from "../../../src/domain/effects.ts";
import {
  asId,
  DEFAULT_PROJECT,
  newId,
  type PipelineId,
  scheduledRunId,
  scheduleIdOf,
  timetableIdOf,
} from "../../../src/domain/ids.ts";
import type { Revision } from "../../../src/stores/ports/pipelines.ts";
import { startKeyOf } from "../../../src/domain/schedules.ts";
import { SteppedNode } from "../../support/stepped-node.ts";
import { openTestSqlite } from "../../support/stores.ts";

const ANN: UserCaller = { kind: "user", userId: asId("usr_ann"), name: "ann", role: "owner", scopes: [] };
const HOUR = 3_600_000;
const JOB = { name: "build", steps: [{ uses: "shell", args: { script: "true" } }] };
const HOURLY = { name: "hourly", schedule: "0 * * * *" };

describe("the schedules of a pipeline", () => {
  let node: SteppedNode;
  let close: () => Promise<void>;
  let pipelineId: PipelineId;

  beforeEach(async () => {
    const opened = await openTestSqlite();
    node = await SteppedNode.open(opened.stores);
    close = async () => {
      await node.stop();
      await opened.close();
    };
    ({ pipelineId } = await createPipeline(node.context, ANN, { name: "p", defaultBranch: "main" }));
  });

  afterEach(() => close());

  async function save(cron: readonly object[], job: object = JOB): Promise<void> {
    const spec = { jobs: [job], ...(cron.length > 0 && { triggers: { cron } }) };
    await saveSpec(node.context, ANN, { ...saveBody.parse({ spec }), pipelineId });
    await node.settled();
  }

  /** A text that came with a commit and was never checked. */
  async function push(text: string): Promise<void> {
    const { pipelines } = node.context.stores;
    const { headRevisionId } = (await pipelines.find(pipelineId))!;
    const person = { name: "bob", email: "bob@example.org" };
    const commit = { id: "c".repeat(40), ref: "refs/heads/main", path: "ci.yaml", blob: text.slice(0, 40) };
    const revision: Revision = {
      revisionId: newId("rev"),
      pipelineId,
      format: "yaml",
      text,
      message: "a push",
      editor: "bob",
      actor: "bob",
      createdAt: node.context.clock.now(),
      commit: { ...commit, author: person, authoredAt: 0, committedAt: 0 },
    };
    expect(await saveHead(node.context, revision, headRevisionId)).to.equal("saved");
    await node.settled();
  }

  async function runs() {
    const { list } = await node.context.stores.aggregates.findRuns({ pipelineId }, { limit: 100 });
    return list.toSorted((a, b) => (a.rootId < b.rootId ? -1 : 1));
  }

  async function scheduleOf(name: string): Promise<ScheduleState> {
    const aggregate = await node.context.stores.aggregates.load(scheduleIdOf(pipelineId, name));
    return aggregate!.actors[0]!.state as ScheduleState;
  }

  const hours = async () => (await runs()).map(({ origin }) => new Date(origin.trigger.scheduled!.at).getUTCHours());

  it("start a run of the head for each time, with the ref and the variables of the trigger", async () => {
    const script = "echo ${{ trigger.kind }} ${{ trigger.schedule }} ${{ trigger.scheduledAt }} ${{ trigger.ref }}";
    await save([{ ...HOURLY, ref: "next", variables: { level: 3 } }], {
      ...JOB,
      steps: [{ uses: "shell", args: { script } }],
    });
    await node.pass(HOUR);
    await node.pass(HOUR);
    expect(await hours()).to.deep.equal([1, 2]);
    const [{ rootId, origin } = (await runs())[0]!] = await runs();
    expect(origin).to.deep.include({ variables: [["level", "3"]], triggeredBy: "schedule hourly", attempt: 1 });
    expect(origin.trigger).to.deep.include({ kind: "cron", ref: "next" });
    const job = await node.context.stores.plans.loadJob(rootId, 0);
    expect(JSON.stringify(job)).to.include("cron hourly 2026-01-01T01:00:00.000Z next");
    expect((await scheduleOf("hourly")).outcomes.map(({ runId }) => runId)).to.deep.equal(
      (await runs()).map((one) => one.rootId),
    );
  });

  it("know when their runs have ended", async () => {
    await save([{ ...HOURLY, overlap: "queue" }]);
    await node.pass(HOUR);
    await node.pass(HOUR);
    expect(await hours()).to.deep.equal([1]);
    const [{ rootId: runId } = (await runs())[0]!] = await runs();
    await stopRun(node.context, ANN, { runId });
    await node.settled();
    expect(await hours()).to.deep.equal([1, 2]);
  });

  it("give a run up for the next one with `cancelRunning`", async () => {
    await save([{ ...HOURLY, overlap: "cancelRunning" }]);
    await node.pass(HOUR);
    await node.pass(HOUR);
    await node.settled();
    expect((await runs()).map(({ summary }) => summary.status)).to.deep.equal(["cancelled", "running"]);
  });

  it("follow the definition", async () => {
    await save([HOURLY, { name: "other", schedule: "30 0 1 1 *" }]);
    await save([{ ...HOURLY, schedule: "0 */2 * * *" }]);
    await node.pass(HOUR);
    expect(await hours()).to.deep.equal([]);
    expect((await scheduleOf("other")).state).to.equal("absent");
    await node.pass(HOUR);
    expect(await hours()).to.deep.equal([2]);
    await save([]);
    await node.pass(2 * HOUR);
    expect(await hours()).to.deep.equal([2]);
  });

  it("outlast a definition that a push has broken, with their pauses, and say why their times start nothing", async () => {
    await save([HOURLY, { name: "other", schedule: "30 * * * *" }]);
    await pauseSchedule(node.context, ANN, { pipelineId, scheduleName: "other", reason: "a holiday" });
    await node.settled();
    await push("jobs: [");
    await node.pass(HOUR);
    expect((await scheduleOf("hourly")).outcomes.at(-1)).to.deep.include({ runId: null, reason: "refused" });
    expect((await scheduleOf("hourly")).outcomes.at(-1)!.text).to.include(
      "the definition in ci.yaml has problems: line 1",
    );
    expect(await hours()).to.deep.equal([]);
    await push(
      JSON.stringify({ jobs: [JOB], triggers: { cron: [HOURLY, { name: "other", schedule: "30 * * * *" }] } }),
    );
    await node.pass(HOUR);
    expect(await hours()).to.deep.equal([2]);
    expect((await scheduleOf("other")).pause).to.deep.include({ by: "ann", reason: "a holiday" });
    await push(JSON.stringify({ jobs: [JOB] }));
    expect((await scheduleOf("hourly")).state).to.equal("absent");
  });

  it("follow a save whose caller died right after it", async () => {
    const { inbox } = node.context.stores;
    const insert = inbox.insert.bind(inbox);
    let calls = 0;
    inbox.insert = (command) => (++calls > 1 ? Promise.reject(new Error("killed")) : insert(command));
    const spec = { jobs: [JOB], triggers: { cron: [HOURLY] } };
    // The first reading of the definition fails too, and is left for later.
    await saveSpec(node.context, ANN, { ...saveBody.parse({ spec }), pipelineId });
    inbox.insert = insert;
    await node.pass(61_000);
    await node.pass(HOUR);
    expect(await hours()).to.deep.equal([1]);
  });

  it("end with their pipeline", async () => {
    await save([HOURLY]);
    await deletePipeline(node.context, ANN, { pipelineId, force: false });
    await node.settled();
    expect((await scheduleOf("hourly")).state).to.equal("absent");
    await node.pass(HOUR);
    const timetable = await node.context.stores.aggregates.load(timetableIdOf(pipelineId));
    expect(timetable!.head.settled).to.equal(true);
  });

  it("cost a pipeline without schedules nothing", async () => {
    await save([]);
    expect(await node.context.stores.aggregates.load(timetableIdOf(pipelineId))).to.equal(undefined);
  });

  it("start no run in an archived project, and say so", async () => {
    await save([HOURLY]);
    await node.context.stores.pipelines.changeProject(DEFAULT_PROJECT, { archivedAt: node.now });
    forgetProjectFacts(node.context, DEFAULT_PROJECT);
    await node.pass(HOUR);
    const [outcome] = (await scheduleOf("hourly")).outcomes;
    expect(outcome).to.include({ reason: "refused", runId: null });
    expect(outcome!.text).to.include("archived");
  });

  describe("as users see them", () => {
    const named = { scheduleName: "hourly" };
    const get = () => getSchedule(node.context, ANN, { pipelineId, ...named });
    const pause = (requestId?: string) =>
      pauseSchedule(node.context, ANN, { pipelineId, ...named, reason: "a freeze", requestId });

    it("have their next ten times, and what became of the last ones, the newest first", async () => {
      await save([HOURLY, { name: "daily", schedule: "0 3 * * *", timezone: "Europe/Berlin" }]);
      await node.pass(HOUR);
      await node.pass(HOUR);
      const { list, total } = await listSchedules(node.context, ANN, { pipelineId });
      expect([total, list.map(({ name, timezone }) => `${name} ${timezone}`)]).to.deep.equal([
        2,
        ["hourly UTC", "daily Europe/Berlin"],
      ]);
      expect(list[1]!.next.slice(0, 2)).to.deep.equal(["2026-01-02T02:00:00.000Z", "2026-01-03T02:00:00.000Z"]);
      const { next, outcomes } = await get();
      expect([next.length, next[0]]).to.deep.equal([10, "2026-01-01T03:00:00.000Z"]);
      expect(outcomes.map(({ at }) => at)).to.deep.equal(["2026-01-01T02:00:00.000Z", "2026-01-01T01:00:00.000Z"]);
      expect((await runs()).map(({ rootId }) => rootId)).to.include.members(outcomes.map(({ runId }) => runId));
    });

    it("start nothing while they are paused, and say who paused them and why", async () => {
      await save([HOURLY]);
      const paused = await pause("once");
      expect(paused).to.deep.include({ state: "paused", next: [] });
      expect(paused.pause).to.deep.include({ by: "ann", reason: "a freeze" });
      expect(await pause("once"), "the same call again").to.deep.equal(paused);
      expect(await refusalOf(pause())).to.include("is paused already");
      await node.pass(HOUR);
      const resumed = await resumeSchedule(node.context, ANN, { pipelineId, ...named });
      expect(resumed).to.deep.include({ state: "active", pause: null });
      expect(resumed.next[0]).to.equal("2026-01-01T02:00:00.000Z");
      expect(await refusalOf(resumeSchedule(node.context, ANN, { pipelineId, ...named }))).to.include("is not paused");
      await node.pass(HOUR);
      expect(await hours()).to.deep.equal([2]);
      expect((await get()).outcomes[1]).to.include({ runId: null, reason: "paused" });
    });

    it("are not found under a name that no cron trigger has", async () => {
      await save([HOURLY]);
      const unknown = getSchedule(node.context, ANN, { pipelineId, scheduleName: "weekly" });
      expect(await refusalOf(unknown)).to.include('no cron trigger "weekly"');
    });
  });

  describe("when two workers start the same time", () => {
    const start = (at: number): StartRunEffect => {
      const key = startKeyOf(pipelineId, "hourly", at);
      const scheduleId = scheduleIdOf(pipelineId, "hourly");
      const runId = scheduledRunId(key, node.now);
      return { type: "startRun", scheduleId, pipelineId, name: "hourly", at, runId, ref: null, variables: [] };
    };

    const create = (effect: StartRunEffect) => schedulePort(node.context).startRun(effect);

    it("make one run of it", async () => {
      await save([]);
      await Promise.all([1, 2, 3].map(() => create(start(5))));
      expect(await runs()).to.have.length(1);
    });

    it("make one run of it, also when one of them has chosen another id", async () => {
      await save([]);
      await create(start(5));
      await create({ ...start(5), runId: scheduledRunId("other", node.now) });
      expect(await runs()).to.have.length(1);
    });

    it("let the first refusal stand", async () => {
      await create(start(5));
      await save([]);
      await create({ ...start(5), runId: scheduledRunId("other", node.now) });
      expect(await runs()).to.have.length(0);
    });
  });
});

function refusalOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "not refused",
    (error: Error) => error.message,
  );
}
