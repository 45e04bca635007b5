/** Plays one scenario: an installation, its load, the faults, and the judgement of what is left. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { asId, type RunId } from "../../src/domain/ids.ts";
import { check } from "./check/checker.ts";
import { collectRuns, readMarks, readSecretsGiven } from "./check/collect.ts";
import type { Evidence, Violation, ViolationKind } from "./check/evidence.ts";
import { lookEverywhere } from "./check/secret-places.ts";
import { type Leak, SecretSearch } from "./check/secret-search.ts";
import { type Fault, type FaultContext, PROBE_PIPELINE } from "./faults/fault.ts";
import { MailProbe } from "./faults/mail-probe.ts";
import { Client } from "./load/client.ts";
import { Load } from "./load/load.ts";
import { CONTROL } from "./load/secrets.ts";
import { step } from "./load/step.ts";
import { Protocol, type Recovery } from "./protocol.ts";
import type { Scenario } from "./scenarios.ts";
import { ADMIN_TOKEN, Installation } from "./world/installation.ts";
import { seeded } from "./world/random.ts";

/** What a scenario showed; times in milliseconds. */
export interface Outcome {
  readonly name: string;
  readonly runs: number;
  /** Processes killed and servers taken away. */
  readonly kills: number;
  /** Violations of the promises by kind. */
  readonly counts: Record<ViolationKind, number>;
  readonly violations: readonly string[];
  readonly recoveries: readonly Recovery[];
  /** Other figures, in words with their units. */
  readonly figures: readonly string[];
  /** How much evidence there was. */
  readonly looked: {
    readonly transitions: number;
    readonly steps: number;
    readonly lines: number;
    /** Values that steps say that they were given. */
    readonly secrets: number;
  };
}

export interface PlayOptions {
  readonly seed: number;
  /** At least so many runs; a scenario whose faults take longer than that goes on with more. */
  readonly runs: number;
  /** Where the logs of the processes are written after a violation. */
  readonly logFolder: string;
  readonly say: (text: string) => void;
}

const BREATH_MS = { least: 500, most: 2_000 };
const SETTLE_MS = 180_000;
const SETTLE_LOOK_MS = 100;
/** The place of all that clients were answered. */
const ANSWERS = "answers to clients";

export async function playScenario(scenario: Scenario, options: PlayOptions): Promise<Outcome> {
  const random = seeded(options.seed).fork(scenario.name);
  const protocol = new Protocol(options.say);
  const installation = await Installation.start(scenario.shape);
  const { redisTarget } = installation;
  const probe = redisTarget === null ? null : new MailProbe(redisTarget);
  try {
    const search = new SecretSearch();
    const client = new Client(installation.urls, ADMIN_TOKEN, random.fork("client"), (answer, question) =>
      search.look(ANSWERS, answer, question),
    );
    const { ledger, mirror } = installation;
    const load = new Load(client, { ledger, mirrorUrl: mirror.url }, random.fork("load"), (secret, value) =>
      search.add(secret, value),
    );
    await load.prepare();
    const nothing = { name: "answers", steps: [step(installation.ledger, "answers", { beats: 0 })] };
    await load.addPipeline(PROBE_PIPELINE, { jobs: [nothing] });

    const context: FaultContext = { installation, load, random: random.fork("faults"), probe, protocol };
    await strikeAll(context, scenario.faults(random.fork("order")), scenario.isQuiet ? 0 : options.runs);
    await settle(installation, load);

    const evidence = await collect(context, scenario.isQuiet ? [] : await searchAll(context, search));
    judge(context, evidence, scenario);
    for (const text of client.improper) protocol.violated("wrong", text);
    const unreadable = (await probe?.failed()) ?? 0;
    if (unreadable > 0) protocol.violated("wrong", `${unreadable} envelopes could not be read by their owners`);
    const { violations, recoveries, figures, kills } = protocol;
    if (violations.length > 0) await keepLogs(installation, join(options.logFolder, scenario.name), violations);
    return {
      name: scenario.name,
      runs: evidence.runs.length,
      kills,
      counts: protocol.counts(),
      violations: violations.map(({ kind, text }) => `${kind}: ${text}`),
      recoveries,
      figures,
      looked: amountOf(evidence),
    };
  } finally {
    await probe?.close();
    await installation.end();
  }
}

/** The faults one after the other under a load, which is over when this resolves; runs may still be under way. */
async function strikeAll(context: FaultContext, faults: readonly Fault[], runs: number): Promise<void> {
  const { load, protocol, random } = context;
  const lastsMs = faults.reduce((sum, fault) => sum + fault.lastsMs, 0);
  const loading = beginEvenly(load, runs, lastsMs);
  for (const fault of faults) {
    await sleep(random.between(BREATH_MS.least, BREATH_MS.most));
    protocol.say(fault.name);
    await fault
      .strike(context)
      .catch((error: unknown) => protocol.violated("stuck", `${fault.name}: ${String(error)}`));
  }
  await loading.enough();
  protocol.say("the load runs out");
  await inTime(load.settled()).catch((error: unknown) =>
    protocol.violated("stuck", `a client gave up: ${String(error)}`),
  );
}

function judge({ installation, protocol }: FaultContext, evidence: Evidence, { isQuiet }: Scenario): void {
  for (const { name, isRunning } of installation.nodes) {
    if (!isRunning && !name.startsWith("guest")) protocol.violated("wrong", `${name} has ended by itself`);
  }
  for (const { kind, text } of check(evidence)) protocol.violated(kind, text);
  const looked = amountOf(evidence);
  if (!isQuiet && Object.values(looked).includes(0)) {
    protocol.violated("lost", `there is no evidence: ${JSON.stringify(looked)}`);
  }
}

/** Begins runs at an even pace until `enough` is called, and at least `runs` of them; none at all for 0. */
function beginEvenly(load: Load, runs: number, overMs: number): { readonly enough: () => Promise<void> } {
  if (runs === 0) return { enough: () => Promise.resolve() };
  const paceMs = overMs / runs;
  let begun = 0;
  let isEnough = false;
  const beginning = (async () => {
    for (const since = performance.now(); !isEnough || begun < runs;) {
      load.begin();
      begun++;
      await sleep(isEnough ? paceMs / 4 : Math.max(0, begun * paceMs - (performance.now() - since)));
    }
  })();
  return {
    enough: () => {
      isEnough = true;
      return beginning;
    },
  };
}

/** Resolves when every run of the load has ended and owes nothing, or when they have had all the time that they may need. */
async function settle({ stores }: Installation, { acknowledged }: Load): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  for (const { runId } of acknowledged) {
    while (!(await stores.aggregates.loadHead(asId<RunId>(runId)))?.settled) {
      if (performance.now() > end) return;
      await sleep(SETTLE_LOOK_MS);
    }
  }
}

/** Looks for secrets in everything there is, and answers what was found of them. */
async function searchAll({ installation, protocol }: FaultContext, search: SecretSearch): Promise<readonly Leak[]> {
  const since = performance.now();
  await lookEverywhere(installation, search.look).catch((error: unknown) =>
    protocol.violated("wrong", `not everything could be searched: ${String(error)}`),
  );
  const { values, places, bytes } = search.amount;
  const tookMs = Math.round(performance.now() - since);
  protocol.measured(`${values} values looked for in ${places} places, ${bytes} bytes, at last for ${tookMs} ms`, true);
  const controls = search.leaks.filter(({ secret }) => secret === CONTROL).map(({ place }) => place);
  const log = installation.mongoDatabase === null ? "table log_chunks" : "collection log_chunks";
  for (const place of [log, ANSWERS]) {
    if (!controls.includes(place)) protocol.violated("lost", `what steps print is not found in ${place}`);
  }
  return search.leaks.filter(({ secret }) => secret !== CONTROL);
}

async function collect({ installation, load, protocol }: FaultContext, leaks: readonly Leak[]): Promise<Evidence> {
  const { stores, ledger } = installation;
  const deadLetters = await stores.deadLetters.list({ offset: 0, limit: 100, descending: false });
  return {
    acknowledged: load.acknowledged,
    runs: await collectRuns(stores, load.pipelineIds),
    marks: await readMarks(ledger),
    logs: load.logs,
    agentKills: protocol.agentKills,
    deadLetters: deadLetters.map(({ rootId, reason }) => `${rootId}: ${reason}`),
    secretVersions: load.secrets.versions,
    secretsGiven: await readSecretsGiven(ledger),
    leaks,
  };
}

function amountOf({ runs, marks, logs, secretsGiven }: Evidence): Outcome["looked"] {
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
