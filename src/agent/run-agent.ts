/** The agent as a whole: it wires its parts together, keeps connected, and ends in an orderly way. */
import { randomUUID } from "node:crypto";
import { arch, availableParallelism, hostname, platform } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { KEEP_CACHE_MS } from "../domain/caches.ts";
import type { Clock } from "../domain/clock.ts";
import { ENGINE_LABEL, ISOLATION_LABEL } from "../domain/containers/containers.ts";
import { MillraceError } from "../domain/errors.ts";
import { AfterJobs } from "./builtins/after-job.ts";
import { openAgentClock } from "./process/agent-clock.ts";
import { endCgroup } from "./process/cgroups.ts";
import { chooseIsolation } from "./process/choose-isolation.ts";
import { cgroupFolderOf, type StepIsolation } from "./process/step-isolation.ts";
import { Confinement } from "./confinement.ts";
import { JobContainers } from "./containers/job-containers.ts";
import { type OpenEngine, openEngine } from "./containers/open-engine.ts";
import { Backoff } from "./connection/backoff.ts";
import { ControlStream } from "./connection/control-stream.ts";
import { type AgentDataDir, claimDataDir } from "./folders/data-dir.ts";
import { DiskGuard } from "./disk-guard.ts";
import { FifoPool } from "./process/fifo-pool.ts";
import { type AgentIdentity, readIdentity, writeIdentity } from "./connection/identity.ts";
import { Journal } from "./journal.ts";
import { Launcher } from "./process/launcher.ts";
import { checkStepUser, findStepUser, type StepUser } from "./process/step-user.ts";
import { Leases } from "./process/leases.ts";
import { LogShipper } from "./logs/log-shipper.ts";
import { openLogSpill } from "./logs/log-spill.ts";
import type { AgentOptions } from "./options.ts";
import { OwnEnd } from "./own-end.ts";
import { clearDrafts, PluginCache } from "./builtins/plugin/plugin-cache.ts";
import { bearer, openGatewayClients, type GatewayClients } from "./connection/gateway-clients.ts";
import { readIdentityToken, register } from "./connection/registration.ts";
import { SharedName } from "./connection/shared-name.ts";
import { Trash } from "./folders/trash.ts";
import { Workload } from "./workload.ts";

/** How long an agent that ends by itself waits for the control plane to store its last reports and log lines. */
const LAST_WORK_MS = 600_000;
/** Minimum time that an ending agent gives the control plane to store the last reports and log lines. */
const LAST_REPORTS_MS = 2_000;
/** How long an ending agent waits for the answer to its goodbye. */
const GOODBYE_MS = 1_000;
/** The last part of the drain timeout, in which steps are asked to end before they are killed. */
const GRACE_PART = 1 / 5;
/** Until the control plane says another one. */
const EVENT_NAMESPACE = "svc";
const STOPPED = "the agent was stopped before the step had ended";
const SET_TOKEN = "set MILLRACE_REGISTRATION_TOKEN, or `registration-token` in the agent's config file";
/** What an agent that ends by itself says of itself. */
const ENDS_SOON = "it is about to end";
/** Default of the option `pluginCacheBytes`. */
const PLUGIN_CACHE_BYTES = 1e9;
/** A connection that lasted longer than this resets the back-off. */
const STEADY_MS = 5_000;

/** `finished`: the agent has ended by itself, after `maxJobs` jobs or `idleExitMs` without one. */
export type AgentEnd = "stopped" | "finished";

/**
 * Runs the agent until it ends by itself, or `signal` is aborted and its jobs have ended. After the abort, the agent takes
 * no more jobs and waits for those that it has. Steps that have not ended within `drainTimeoutMs` are killed and reported
 * as lost.
 * Rejects with `conflict` when another agent uses the data directory, `unauthenticated` when neither the agent's own
 * token nor a registration token is accepted, and `malformed_request` for options that cannot work, such as a user as
 * whom no step can run.
 */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<AgentEnd> {
  checkOptions(options);
  const clients = await openGatewayClients(options);
  try {
    const user = options.stepUser === undefined ? undefined : await findStepUser(options.stepUser);
    const dataDir = await claimDataDir(options.dataDir, options.log, user);
    try {
      if (user !== undefined) await checkStepUser(user, dataDir.workDir, dataDir.identityFile);
      await clearDrafts(dataDir.pluginDir);
      const isolation = await chooseIsolation(options.stepIsolation ?? "auto", dataDir.root, options.log);
      const engine = await openEngine(options.containers, dataDir.root, options.log);
      const folder = cgroupFolderOf(isolation);
      const confinement = await Confinement.open(options, {
        dataDir: dataDir.root,
        cgroupFolder: folder,
        user,
        hasEngine: engine !== undefined,
        log: options.log,
      });
      const end = await new Agent(options, clients, dataDir, { isolation, user, engine, confinement }).run(signal);
      if (folder !== undefined) await endCgroup(folder);
      return end;
    } finally {
      dataDir.release();
    }
  } finally {
    clients.close();
  }
}

/** What this machine offers to steps, as it was found at the start. */
interface StepPlaces {
  readonly isolation: StepIsolation;
  readonly user: StepUser | undefined;
  readonly engine: OpenEngine | undefined;
  readonly confinement: Confinement;
}

class Agent {
  readonly #options: AgentOptions;
  readonly #clients: GatewayClients;
  readonly #dataDir: AgentDataDir;
  readonly #labels: Record<string, string>;
  readonly #slots: number;
  readonly #bootId = randomUUID();
  readonly #trash: Trash;
  readonly #journal: Journal;
  readonly #shipper: LogShipper;
  readonly #clock: Clock = openAgentClock();
  readonly #sharedName = new SharedName(this.#clock);
  readonly #launcher: Launcher;
  readonly #leases: Leases;
  readonly #disk: DiskGuard;
  readonly #afterJobs = new AfterJobs(KEEP_CACHE_MS);
  readonly #containers: JobContainers | undefined;
  readonly #workload: Workload;
  readonly #ownEnd: OwnEnd;
  #end: AgentEnd = "stopped";
  #stopping: Promise<void> | undefined;
  /** Aborted when the agent has nothing left to send: the connection ends. */
  readonly #ending = new AbortController();
  #identity: AgentIdentity | undefined;
  #stream: ControlStream | undefined;
  #sequence = 0n;
  #eventNamespace = EVENT_NAMESPACE;
  /**
   * Set while all steps are stopped, until a heartbeat after this one is acknowledged: then the steps that are left are
   * those that the control plane still counts as this agent's.
   */
  #heldAfter: bigint | undefined;
  #isDraining = false;
  #hasSaidGoodbye = false;
  #wasReady = false;

  constructor(
    options: AgentOptions,
    clients: GatewayClients,
    dataDir: AgentDataDir,
    { isolation, user, engine, confinement }: StepPlaces,
  ) {
    const { log } = options;
    this.#options = options;
    this.#clients = clients;
    this.#dataDir = dataDir;
    // A gateway of an older version knows no number of jobs.
    this.#slots = Math.min(options.slots, options.maxJobs ?? Infinity);
    this.#labels = {
      ...(options.facts ? ownFacts(isolation) : {}),
      // Not only a fact: jobs with containers find their agents by it.
      ...(engine === undefined ? {} : { [ENGINE_LABEL]: engine.engine.kind }),
      ...(confinement.isolation === undefined ? {} : { [ISOLATION_LABEL]: confinement.isolation }),
      ...options.labels,
    };
    const disk = new DiskGuard({ folder: dataDir.workDir, floor: options.minFreeDisk, clock: this.#clock, log });
    this.#disk = disk;
    const pipes = new FifoPool(dataDir.scratchDir, user);
    this.#trash = new Trash(dataDir.trashDir, log);
    this.#journal = new Journal(dataDir.journalFile, log);
    const gateway = {
      client: clients.gateway,
      metadata: () => (this.#identity === undefined ? undefined : bearer(this.#identity.agentToken)),
      eventNamespace: () => this.#eventNamespace,
    };
    const spill = openLogSpill(dataDir.scratchDir);
    this.#shipper = new LogShipper({ ...gateway, spill, diskBytes: options.logBufferBytes, log });
    this.#launcher = new Launcher(log, (jumpMs) => this.#held(jumpMs), isolation, user);
    const cgroupFolder = cgroupFolderOf(isolation);
    this.#leases = new Leases({ folder: dataDir.scratchDir, cgroupFolder, clock: this.#clock, log });
    this.#containers =
      engine &&
      new JobContainers({
        ...engine,
        scratchDir: dataDir.scratchDir,
        leases: this.#leases,
        trash: this.#trash,
        gateway,
        user,
        log,
      });
    this.#ownEnd = new OwnEnd({
      ...options,
      onDrain: (isFull) => this.#takeNoMore(isFull),
      onEnd: () => void this.#finish(),
    });
    this.#workload = new Workload({
      ...dataDir,
      trash: this.#trash,
      user,
      launcher: this.#launcher,
      pipes,
      journal: this.#journal,
      shipper: this.#shipper,
      leases: this.#leases,
      disk,
      gateway,
      plugins: {
        cache: new PluginCache({
          folder: dataDir.pluginDir,
          limitBytes: options.pluginCacheBytes ?? PLUGIN_CACHE_BYTES,
          log,
        }),
        dirs: options.pluginDirs ?? [],
      },
      afterJobs: this.#afterJobs,
      containers: this.#containers,
      confinement,
      log,
      report: (report) => this.#openStream?.send({ $case: "report", value: report }),
      onJobBegins: () => this.#ownEnd.jobBegins(),
      onJobEnds: () => this.#ownEnd.jobEnds(),
    });
  }

  async run(signal: AbortSignal): Promise<AgentEnd> {
    // Signals that follow from others are aborted one after the other, and Node fails when a new one is made of them in
    // between.
    const stop = () => queueMicrotask(() => void this.#stop());
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (signal.aborted) return this.#end;
      this.#options.onStart?.({ workLeftMs: () => this.#workLeftMs() });
      this.#identity = await readIdentity(this.#dataDir.identityFile);
      await this.#keepConnected();
      return this.#end;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#ownEnd.stop();
      // Also after an error: without a connection no process of the agent reports its steps, so no step may keep
      // running.
      this.#workload.killAll("the agent has stopped");
      await Promise.all([this.#workload.whenWithoutSteps(), this.#afterJobs.close()]);
      await this.#containers?.close();
      this.#workload.close();
      await this.#launcher.close();
      await this.#leases.close();
      this.#shipper.close();
      await this.#trash.close();
      this.#journal.close();
    }
  }

  #workLeftMs(): number {
    const hasWork = this.#workload.heldJobIds().length > 0 || this.#workload.heldStepRuns().length > 0;
    return hasWork ? this.#leases.longestLeftMs() : 0;
  }

  async #keepConnected(): Promise<void> {
    const { log, registrationToken, identityTokenFile, name } = this.#options;
    const mayRegister = registrationToken !== undefined || identityTokenFile !== undefined;
    const backoff = new Backoff();
    while (!this.#ending.signal.aborted) {
      const isKnown = this.#identity !== undefined && (this.#identity.name === name || !mayRegister);
      const identity = isKnown ? this.#identity! : await this.#register("this agent is not registered yet");
      if (identity === undefined) return;
      const end = await this.#connect(identity);
      if (this.#ending.signal.aborted || this.#hasSaidGoodbye) return;
      if (end.welcomeMs > STEADY_MS) backoff.reset();
      if (end.code === status.UNAUTHENTICATED) {
        log.warn({ details: end.details }, "the control plane refuses this agent's token");
        this.#sharedName.refused(name);
        await this.#register("the control plane refuses this agent's token");
      } else {
        log.warn({ code: status[end.code], details: end.details }, "the connection has ended; trying again");
      }
      await backoff.wait(this.#ending.signal, end.comeBackMs);
    }
  }

  async #register(why: string): Promise<AgentIdentity | undefined> {
    const { registrationToken, identityTokenFile, name, version = "", log } = this.#options;
    if (registrationToken === undefined && identityTokenFile === undefined) {
      throw new MillraceError("unauthenticated", `${why}, and there is no registration token: ${SET_TOKEN}`);
    }
    const request = { name, labels: this.#labels, slots: this.#slots, version };
    // Read again for each attempt, because what has written the file replaces a token that expires.
    const token = identityTokenFile === undefined ? registrationToken! : () => readIdentityToken(identityTokenFile);
    const identity = await register(this.#clients.agent, token, request, log, this.#ending.signal);
    this.#sharedName.registered();
    if (identity !== undefined) await writeIdentity(this.#dataDir.identityFile, identity);
    this.#identity = identity;
    return identity;
  }

  /** One connection, from hello to its end. */
  async #connect(identity: AgentIdentity) {
    const { version = "" } = this.#options;
    const stream = new ControlStream({
      client: this.#clients.agent,
      metadata: bearer(identity.agentToken),
      clock: this.#clock,
      bootId: this.#bootId,
      labels: this.#labels,
      slots: this.#slots,
      version,
      nextSequence: () => ++this.#sequence,
      held: () => ({
        held: this.#workload.heldStepRuns(),
        heldJobIds: this.#workload.heldJobIds(),
        takesNoJobs: this.#isDraining ? ENDS_SOON : this.#disk.obstacle(),
        jobsLeft: this.#ownEnd.jobsLeft,
      }),
      onContact: (sentAt) => this.#leases.renew(sentAt),
      onHeartbeat: (sequence) => this.#confirmed(sequence),
      onWelcome: ({ agentId, eventNamespace }) => this.#welcomed(agentId, eventNamespace),
      onInstruction: (instruction) => this.#workload.handleInstruction(instruction),
    });
    this.#stream = stream;
    const close = () => stream.close();
    this.#ending.signal.addEventListener("abort", close, { once: true });
    const end = await stream.ended;
    this.#ending.signal.removeEventListener("abort", close);
    this.#stream = undefined;
    return end;
  }

  /** Time has passed in which nothing of this agent ran, and all steps are stopped. */
  #held(jumpMs: number): void {
    this.#options.log.warn({ jumpMs }, "the machine or this agent was stopped, or its clock was set: its steps wait");
    this.#heldAfter = this.#sequence;
    void this.#containers?.pauseAll(true);
    this.#leases.check();
    this.#stream?.beat();
  }

  #confirmed(sequence: bigint): void {
    if (this.#heldAfter === undefined || sequence <= this.#heldAfter) return;
    this.#heldAfter = undefined;
    this.#launcher.resume();
    void this.#containers?.pauseAll(false);
  }

  #welcomed(agentId: string, eventNamespace: string): void {
    if (eventNamespace !== "") this.#eventNamespace = eventNamespace;
    if (this.#heldAfter !== undefined) this.#stream?.beat();
    if (this.#isDraining) this.#openStream?.send({ $case: "drain", value: { goodbye: false } });
    this.#workload.reportAll();
    if (this.#wasReady) return;
    this.#wasReady = true;
    this.#ownEnd.open();
    this.#options.log.info({ agentId, bootId: this.#bootId }, "the control plane welcomes this agent");
    this.#options.onReady?.({ agentId });
  }

  get #openStream(): ControlStream | undefined {
    return this.#stream?.isOpen === true ? this.#stream : undefined;
  }

  /** Tells the control plane that the agent takes no more jobs. `isFull`: the agent refuses what comes all the same. */
  #takeNoMore(isFull: boolean): void {
    const jobs = this.#workload.heldJobIds().length;
    this.#options.log.info({ jobs }, "the agent takes no more jobs: it ends by itself");
    this.#isDraining = true;
    if (isFull) this.#workload.drain();
    this.#openStream?.send({ $case: "drain", value: { goodbye: false } });
  }

  /** Ends an agent that has nothing left to do. No drain timeout bounds its last log lines. */
  async #finish(): Promise<void> {
    const { killSignal } = this.#options;
    this.#workload.drain();
    await within(LAST_WORK_MS, this.#afterJobs.whenIdle(), killSignal);
    await within(LAST_WORK_MS, Promise.all([this.#workload.whenSettled(), this.#shipper.whenStored()]), killSignal);
    if (this.#stopping === undefined) this.#end = "finished";
    await this.#stop();
  }

  #stop(): Promise<void> {
    this.#stopping ??= this.#drainAndEnd();
    return this.#stopping;
  }

  /** Ends the agent: drains it, hands back what is left, sends the last reports, and closes the connection. */
  async #drainAndEnd(): Promise<void> {
    const { drainTimeoutMs, killSignal, log } = this.#options;
    log.info({ drainTimeoutMs, jobs: this.#workload.heldJobIds().length }, "the agent takes no more jobs");
    this.#ownEnd.stop();
    this.#isDraining = true;
    this.#workload.drain();
    this.#openStream?.send({ $case: "drain", value: { goodbye: false } });
    const endsAt = this.#clock.monotonic() + drainTimeoutMs;
    const leftMs = () => endsAt - this.#clock.monotonic();
    const graceMs = drainTimeoutMs * GRACE_PART;
    const isIdle = this.#workload.whenWithoutJobs().then(() => this.#afterJobs.whenIdle());
    await within(leftMs() - graceMs, isIdle, killSignal);
    this.#workload.handBack(STOPPED, graceMs);
    await within(leftMs(), this.#workload.whenWithoutSteps(), killSignal);
    this.#workload.killAll(STOPPED);
    await Promise.all([this.#workload.whenWithoutSteps(), this.#afterJobs.close()]);
    const isAllStored = Promise.all([this.#workload.whenSettled(), this.#shipper.whenStored()]);
    await within(LAST_REPORTS_MS, isAllStored);
    await within(leftMs(), isAllStored, killSignal);
    await this.#sayGoodbye();
    this.#ending.abort();
  }

  /**
   * Tells the control plane that this agent ends, so that the jobs that it still holds start again on other agents at
   * once. The agent says no goodbye while an end is not acknowledged: the job of that step may yet turn out to have
   * succeeded.
   */
  async #sayGoodbye(): Promise<void> {
    const stream = this.#openStream;
    if (stream === undefined || this.#workload.heldStepRuns().length > 0) return;
    this.#hasSaidGoodbye = true;
    stream.sayGoodbye();
    await within(GOODBYE_MS, stream.ended);
  }
}

/** Labels that every agent has unless the operator switches them off. */
function ownFacts({ kind }: StepIsolation): Record<string, string> {
  const cores = String(availableParallelism());
  return { os: platform(), arch: arch(), hostname: hostname(), cores, "step-isolation": kind };
}

/** Resolves with `condition`, after `ms`, or when `signal` is aborted, whichever comes first. */
async function within(ms: number, condition: Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  await Promise.race([condition, sleep(Math.max(0, ms), undefined, { signal: either }).catch(() => {})]);
  over.abort();
}

function checkOptions({ name, slots }: AgentOptions): void {
  if (name === "") throw new MillraceError("malformed_request", "an agent needs a name");
  if (Number.isInteger(slots) && slots >= 1 && slots <= 1_000) return;
  throw new MillraceError("malformed_request", `an agent has 1 to 1000 slots, not ${slots}`);
}
