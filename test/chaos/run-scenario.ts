/**
 * Plays one scenario: starts an installation, loads it, injects the faults, and checks what is left against the
 * promises.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack/attack.ts";
import { asId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { until } from "../support/until.ts";
import { check } from "./check/checker.ts";
import { collectRuns, otherPipelines, readMarks, readSecretsGiven } from "./check/collect.ts";
import type { Evidence, PromisedStart, Violation, ViolationKind } from "./check/evidence.ts";
import { scanInstallation } from "./check/secret-places.ts";
import { type Leak, SecretSearch } from "./check/secret-search.ts";
import { type Fault, type FaultContext, PROBE_PIPELINE } from "./faults/fault.ts";
import { MailboxProbe } from "./faults/mailbox-probe.ts";
import { Client } from "./load/client.ts";
import { Attackers } from "./load/attackers.ts";
import { Load } from "./load/load.ts";
import { FeedFollower } from "./load/feed-follower.ts";
import { Starts } from "./load/starts.ts";
import { ToldFollower } from "./load/told-follower.ts";
import { CONTROL } from "./load/secrets.ts";
import { step } from "./load/step.ts";
import { ScenarioRecord, type Recovery } from "./scenario-record.ts";
import type { Scenario } from "./scenarios.ts";
import { CodeHost } from "./world/code-host.ts";
import { ADMIN_TOKEN, Installation } from "./world/installation.ts";
import { seeded } from "./world/random.ts";

/** The result of a scenario; times are in milliseconds. */
export interface Outcome {
  readonly name: string;
  readonly runs: number;
  /** Number of killed processes and of servers that were taken away. */
  readonly kills: number;
  /** Number of violations by kind. */
  readonly counts: Record<ViolationKind, number>;
  readonly violations: readonly string[];
  readonly evidence: Evidence;
  readonly recoveries: readonly Recovery[];
  /** Other measurements, as sentences with units. */
  readonly figures: readonly string[];
  /** How much evidence the checker examined. */
  readonly examined: {
    readonly transitions: number;
    readonly steps: number;
    readonly lines: number;
    /** Secret values whose checksums steps reported. */
    readonly secrets: number;
  };
}

export interface PlayOptions {
  readonly seed: number;
  /** Least number of runs. A scenario whose faults take longer starts more runs. */
  readonly runs: number;
  /** Folder for the logs of all processes; written only after a violation. */
  readonly logFolder: string;
  readonly say: (text: string) => void;
  /** The attacks that attackers play beside the load; none when absent. */
  readonly attacks?: readonly Attack[];
}

const PAUSE_BETWEEN_FAULTS_MS = { least: 500, most: 2_000 };
/** How many times slower further runs start than those that a scenario asks for. */
const SLOWER = 4;
const SETTLE_MS = 180_000;
const SETTLE_POLL_MS = 100;
/** States of a commit whose run has ended. */
const ENDED: readonly string[] = ["success", "failure", "cancelled"];
/** The name under which the search for secrets files all answers to clients. */
const ANSWERS = "answers to clients";

export async function playScenario(scenario: Scenario, options: PlayOptions): Promise<Outcome> {
  const random = seeded(options.seed).fork(scenario.name);
  const record = new ScenarioRecord(options.say);
  const installation = await Installation.start(scenario.shape);
  const { redisTarget } = installation;
  const probe = redisTarget === null ? null : new MailboxProbe(redisTarget);
  const followers: ToldFollower[] = [];
  let viewer: FeedFollower | undefined;
  let host: CodeHost | undefined;
  let starts: Starts | undefined;
  try {
    const search = new SecretSearch();
    const client = new Client(installation.urls, ADMIN_TOKEN, random.fork("client"), (answer, question) =>
      search.scan(ANSWERS, answer, question),
    );
    const { ledger, mirror } = installation;
    const notified = scenario.isQuiet ? undefined : await ToldFollower.ofNotifications();
    if (notified !== undefined) followers.push(notified);
    const load = new Load(
      client,
      { ledger, mirrorUrl: mirror.url, notify: notified?.notify ?? [] },
      random.fork("load"),
      (secret, value) => search.add(secret, value),
      scenario.shape.logBuffer !== undefined,
    );
    await load.prepare();
    if (!scenario.isQuiet) {
      followers.push(await ToldFollower.ofWebhook(client));
      viewer = FeedFollower.start(client);
    }
    const probeJob = { name: "answers", steps: [step(installation.ledger, "answers", { beats: 0 })] };
    await load.addPipeline(PROBE_PIPELINE, { jobs: [probeJob] });
    if (!scenario.isQuiet) {
      host = await CodeHost.start(installation.folder);
      starts = new Starts({
        client,
        load,
        installation,
        host,
        notify: notified?.notify ?? [],
        random: random.fork("starts"),
        isLive: scenario.hasWrongClock !== true,
      });
      await starts.begin();
    }

    const context: FaultContext = {
      installation,
      load,
      random: random.fork("faults"),
      probe,
      record,
      victims: new Set(),
    };
    const attackers = new Attackers(client, installation.gatewayAddresses, random.fork("attackers"));
    const attacks = options.attacks ?? [];
    if (attacks.length > 0) await attackers.begin(attacks);
    try {
      await injectAll(context, scenario.faults(random.fork("order")), scenario.isQuiet ? 0 : options.runs);
    } finally {
      await attackers.end();
    }
    const others = attacks.length > 0 ? await endAttackers(context, attackers) : [];
    const promised = starts === undefined ? [] : await endStarts(context, starts);
    const acknowledged = load.acknowledged.map(({ runId }) => runId);
    await settle(installation, [...acknowledged, ...promised.flatMap(({ told }) => told)]);
    if (host !== undefined) await untilReported(host, promised, record);
    // The command looks twice at what differs, with a pause between; the search and the checker work meanwhile.
    const since = performance.now();
    const verifying = installation.verify().finally(() => {
      record.say(`millrace verify took ${Math.round(performance.now() - since)} ms`);
    });

    const leaks = scenario.isQuiet ? [] : await searchAll(context, search);
    const evidence = await collect(context, { others, leaks, starts: promised, statuses: host?.statuses ?? [] });
    for (const follower of followers) await checkTold(follower, evidence, record);
    if (viewer !== undefined) await checkViewer(viewer, evidence, record);
    addViolations(context, evidence, scenario);
    for (const text of await verifying) record.addViolation("wrong", `millrace verify: ${text}`);
    for (const text of client.improper) record.addViolation("wrong", text);
    const unreadable = (await probe?.failed()) ?? 0;
    if (unreadable > 0) record.addViolation("wrong", `the owners of the shards could not read ${unreadable} envelopes`);
    const { violations, recoveries, figures, kills } = record;
    if (violations.length > 0) await keepLogs(installation, join(options.logFolder, scenario.name), violations);
    return {
      name: scenario.name,
      runs: evidence.runs.length,
      kills,
      counts: record.counts(),
      violations: violations.map(({ kind, text }) => `${kind}: ${text}`),
      evidence,
      recoveries,
      figures,
      examined: countEvidence(evidence),
    };
  } finally {
    await probe?.close();
    viewer?.close();
    await installation.end();
    await host?.close();
    for (const follower of followers) await follower.close();
  }
}

async function checkTold(follower: ToldFollower, { runs }: Evidence, record: ScenarioRecord): Promise<void> {
  record.addFigure(await follower.caughtUp(runs, SETTLE_MS), true);
  for (const { kind, text } of follower.violations(runs)) record.addViolation(kind, text);
}

async function checkViewer(viewer: FeedFollower, { runs }: Evidence, record: ScenarioRecord): Promise<void> {
  await viewer.caughtUp(runs, SETTLE_MS);
  record.addFigure(viewer.figure, true);
  for (const { kind, text } of viewer.violations(runs)) record.addViolation(kind, text);
}

/**
 * Injects the faults one after the other under load. The load has ended when this resolves; its runs may still be
 * running.
 */
async function injectAll(context: FaultContext, faults: readonly Fault[], runs: number): Promise<void> {
  const { load, record, random } = context;
  const lastsMs = faults.reduce((sum, fault) => sum + fault.lastsMs, 0);
  const loading = startEvenly(load, runs, lastsMs);
  for (const fault of faults) {
    await sleep(random.between(PAUSE_BETWEEN_FAULTS_MS.least, PAUSE_BETWEEN_FAULTS_MS.most));
    record.say(fault.name);
    await fault
      .inject({ ...context, victims: new Set() })
      .catch((error: unknown) => record.addViolation("stuck", `${fault.name}: ${String(error)}`));
  }
  await loading.stop();
  record.say("the load has ended");
  await inTime(load.settled()).catch((error: unknown) =>
    record.addViolation("stuck", `a client gave up: ${String(error)}`),
  );
}

function addViolations({ installation, record }: FaultContext, evidence: Evidence, { isQuiet, shape }: Scenario): void {
  for (const { name, isRunning } of installation.nodes) {
    if (!isRunning && !name.startsWith("guest")) record.addViolation("wrong", `${name} ended without being killed`);
  }
  for (const { kind, text } of check(evidence)) record.addViolation(kind, text);
  const hasGap = evidence.logs.some(({ seen }) => seen.some(({ lostThrough }) => lostThrough !== null));
  if (shape.logBuffer !== undefined && !hasGap)
    record.addViolation("wrong", "no agent ran out of room for log lines: the scenario showed nothing");
  const examined = countEvidence(evidence);
  if (!isQuiet && Object.values(examined).includes(0)) {
    record.addViolation("lost", `there is no evidence: ${JSON.stringify(examined)}`);
  }
}

/**
 * Starts runs until `stop` is called, and at least `runs` of them: these at an even pace, and further ones, while faults
 * take longer than expected, at a slower pace. Otherwise a slow machine would get more work because it is slow. Starts
 * none when `runs` is 0.
 */
function startEvenly(load: Load, runs: number, overMs: number): { readonly stop: () => Promise<void> } {
  if (runs === 0) return { stop: () => Promise.resolve() };
  const paceMs = overMs / runs;
  let started = 0;
  let isStopping = false;
  const loading = (async () => {
    let dueMs = 0;
    for (const since = performance.now(); !isStopping || started < runs;) {
      load.startRun();
      started++;
      dueMs += started < runs ? paceMs : SLOWER * paceMs;
      await sleep(isStopping ? paceMs / 4 : Math.max(0, dueMs - (performance.now() - since)));
    }
  })();
  return {
    stop: () => {
      isStopping = true;
      return loading;
    },
  };
}

/**
 * Stops what attackers have started, and waits for its end. Answers the ids of their pipelines; the store removes the runs of
 * those that they have deleted, so these must only have ended. An attack that no edge has answered has shown nothing.
 */
async function endAttackers(
  { load, record, installation }: FaultContext,
  attackers: Attackers,
): Promise<readonly string[]> {
  const { aggregates } = installation.stores;
  const liveRuns = (id: string) => aggregates.liveRuns(asId<PipelineId>(id), Number.MAX_SAFE_INTEGER);
  const own = await attackers.stopRuns(load.allPipelineIds, liveRuns);
  const all = await otherPipelines(installation, load.allPipelineIds);
  const live = (await Promise.all([...new Set([...own, ...all])].map(liveRuns))).flat();
  await settle(installation, live);
  for (const id of all) {
    const left = (await liveRuns(id)).length;
    if (left > 0)
      record.addViolation("stuck", `${left} runs of the attackers' pipeline ${id} are live after their stop`);
  }
  const answers = [...attackers.answers];
  const answered = answers.reduce((sum, [, count]) => sum + count, 0);
  record.addFigure(
    `${attackers.turns} attacks got ${answered} answers; ${live.length} of their runs were stopped`,
    answered > 0,
  );
  for (const [kind, count] of answers) {
    if (/: 500\b|REAL AGENT|WELCOME/.test(kind)) record.addViolation("wrong", `${kind}: ${count}`);
    else if (kind.includes("the attack itself failed")) record.say(`  ${kind}: ${count}`);
  }
  return own;
}

/**
 * Resolves when every one of these runs is settled, at the latest after `SETTLE_MS`; the checker then reports runs that
 * are not.
 */
async function settle({ stores }: Installation, runIds: readonly string[]): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  // A run that is gone was removed with its pipeline; the checker reports an acknowledged one.
  for (const runId of runIds) {
    while ((await stores.aggregates.loadHead(asId<RunId>(runId)))?.settled === false) {
      if (performance.now() > end) return;
      await sleep(SETTLE_POLL_MS);
    }
  }
}

/** Searches the whole installation for secret values and answers the leaks. */
async function searchAll({ installation, record }: FaultContext, search: SecretSearch): Promise<readonly Leak[]> {
  const since = performance.now();
  await scanInstallation(installation, search.scan).catch((error: unknown) =>
    record.addViolation("wrong", `the search for secrets did not finish: ${String(error)}`),
  );
  const { values, places, bytes } = search.amount;
  const tookMs = Math.round(performance.now() - since);
  record.addFigure(
    `searched for ${values} secret values in ${places} places, ${bytes} bytes; the last search took ${tookMs} ms`,
    true,
  );
  const controls = search.leaks.filter(({ secret }) => secret === CONTROL).map(({ place }) => place);
  const log = installation.mongoDatabase === null ? "table log_chunks" : "collection log_chunks";
  for (const place of [log, ANSWERS]) {
    if (!controls.includes(place))
      record.addViolation("lost", `the search does not find in ${place} what steps print there`);
  }
  return search.leaks.filter(({ secret }) => secret !== CONTROL);
}

/** Ends what the control plane starts by itself. Answers what it has promised, once it has started that. */
async function endStarts({ record }: FaultContext, starts: Starts): Promise<readonly PromisedStart[]> {
  await inTime(starts.end()).catch((error: unknown) =>
    record.addViolation("stuck", `the sender of deliveries gave up: ${String(error)}`),
  );
  const since = performance.now();
  const promised = await starts.settled(SETTLE_MS);
  const commits = promised.filter(({ commit }) => commit !== null).length;
  const times = promised.filter(({ by }) => by.startsWith("schedule")).length;
  const tookMs = Math.round(performance.now() - since);
  const figure = `${times} times of schedules, ${promised.length - times} matches of deliveries, ${commits} of them pushes; the last were started ${tookMs} ms after the load`;
  record.addFigure(figure, times > 0 && commits > 0 && promised.length > times + commits);
  return promised;
}

/** Waits until the host was told the end of each pushed commit; the checker reports those of which it was not. */
async function untilReported(
  host: CodeHost,
  promised: readonly PromisedStart[],
  record: ScenarioRecord,
): Promise<void> {
  const since = performance.now();
  const isTold = () =>
    promised.every(({ commit }) => commit === null || ENDED.includes(host.stateOf(commit) ?? "pending"));
  await until("the host was told all ends", isTold, SETTLE_MS).catch(() => {});
  const tookMs = Math.round(performance.now() - since);
  record.addFigure(`the host took ${host.statuses.length} statuses, the last ${tookMs} ms after its run`, true);
}

async function collect(
  { installation, load, record }: FaultContext,
  { others, ...given }: Pick<Evidence, "leaks" | "starts" | "statuses"> & { readonly others: readonly string[] },
): Promise<Evidence> {
  const { stores, ledger } = installation;
  const deadLetters = await stores.deadLetters.list({ offset: 0, limit: 100, descending: false });
  return {
    acknowledged: load.acknowledged,
    pauses: load.pauses,
    unansweredPauses: load.unansweredPauses,
    stops: load.stops,
    votes: load.votes,
    runs: await collectRuns(installation, load.pipelineIds),
    attackers: await collectRuns(installation, others),
    marks: await readMarks(ledger),
    logs: load.logs,
    absences: record.absences,
    outages: record.outages,
    disturbances: record.disturbances,
    deadLetters: deadLetters.map(({ rootId, reason }) => `${rootId}: ${reason}`),
    secretVersions: load.secrets.versions,
    secretsGiven: await readSecretsGiven(ledger),
    kills: record.kills,
    hasZombies: record.hasZombies,
    ...given,
  };
}

function countEvidence({ runs, marks, logs, secretsGiven }: Evidence): Outcome["examined"] {
  return {
    transitions: runs.reduce((sum, { events }) => sum + events.length, 0),
    steps: marks.filter(({ word }) => word === "start").length,
    lines: logs.reduce((sum, { seen }) => sum + seen.length, 0),
    secrets: secretsGiven.length,
  };
}

function inTime<T>(work: Promise<T>): Promise<T> {
  const late = sleep(SETTLE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`not within ${SETTLE_MS} ms`);
  });
  return Promise.race([work, late]);
}

async function keepLogs(installation: Installation, folder: string, violations: readonly Violation[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "violations.txt"), violations.map(({ kind, text }) => `${kind}: ${text}\n`).join(""));
  for (const { name, output } of installation.nodes) await writeFile(join(folder, `${name}.log`), output);
}
