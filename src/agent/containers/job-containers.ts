/**
 * The containers of the agent's jobs. All steps of a job share one container, which is started by the first step that
 * needs it, and the job's services. Both end with the job, with its lease, and with the agent: by the standard input that
 * the agent holds, by the mark that the guard looks for, and by labels.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PullPolicy as PullMessage } from "../../../proto/generated/agent/v1/agent.ts";
import type { Container, Dispatch, Service } from "../../../proto/generated/agent/v1/agent.ts";
import type { PullPolicy } from "../../domain/containers/containers.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { GatewayAccess } from "../connection/gateway-call.ts";
import type { HeldLease, Leases } from "../process/leases.ts";
import { giveTo, type Owner } from "../process/step-user.ts";
import type { Trash } from "../folders/trash.ts";
import { ContainedProcess, type ContainedLaunch } from "./contained-process.ts";
import type { ContainerEngine } from "./engine.ts";
import { pinImage } from "../connection/pin-image.ts";
import type { HeldImage, ImageCache } from "./image-cache.ts";
import { obtainImage } from "./pull.ts";
import { RunningContainer } from "./running-container.ts";
import { RunningService } from "./service.ts";

export interface JobContainersOptions {
  readonly engine: ContainerEngine;
  /** Distinguishes what belongs to this agent from what belongs to others on the machine. */
  readonly agentKey: string;
  /** The images that jobs may use; empty for all. */
  readonly allowed: readonly string[];
  readonly images: ImageCache;
  readonly scratchDir: string;
  readonly leases: Pick<Leases, "take" | "holdsContainers">;
  readonly trash: Trash;
  readonly gateway: GatewayAccess;
  /** As whom steps outside of containers run; undefined: as the agent. */
  readonly user: Owner | undefined;
  readonly log: Logger;
}

export interface PlaceRequest {
  readonly dispatch: Pick<Dispatch, "jobId" | "stepRunId" | "token" | "leaseMs" | "container" | "services">;
  readonly workspace: string;
  readonly say: (line: string) => void;
  readonly isSecret: (text: string) => boolean;
  readonly signal: AbortSignal;
}

/** Where a step of a job with containers runs. */
export interface StepPlace {
  /** For files that the step reads and writes: containers see it. */
  readonly folder: string;
  /** Variables by which the step finds the services. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts the step's process; undefined for a step that runs outside of containers. */
  readonly start: ((launch: ContainedLaunch) => Promise<ContainedProcess>) | undefined;
  /** Call it when the log of the step ends: what services say goes to the next step. */
  leave(): void;
  /** Removes what belongs to this step alone. Call it after the step. */
  close(): Promise<void>;
}

/** Lines of services that are kept while no step runs. */
const MAX_KEPT_LINES = 200;

export function agentLabel(agentKey: string): string {
  return `millrace.agent=${agentKey}`;
}

const PULL: Readonly<Partial<Record<PullMessage, PullPolicy>>> = {
  [PullMessage.PULL_POLICY_ALWAYS]: "always",
  [PullMessage.PULL_POLICY_NEVER]: "never",
};

export class JobContainers {
  readonly #options: JobContainersOptions;
  readonly #jobs = new Map<string, ContainedJob>();

  constructor(options: JobContainersOptions) {
    this.#options = options;
  }

  /**
   * Starts what the step needs and does not run yet. Rejects with what is wrong with the image, the container or a service,
   * with `unavailable` when the lease has run out, and with the reason of `signal`.
   */
  async open(request: PlaceRequest): Promise<StepPlace> {
    const { jobId, leaseMs } = request.dispatch;
    const job = this.#jobs.get(jobId) ?? new ContainedJob(jobId, Number(leaseMs), this.#options);
    this.#jobs.set(jobId, job);
    return job.open(request);
  }

  /** Ends the containers of a job, and resolves when none is left. Call it when no step of the job runs. */
  async end(jobId: string): Promise<void> {
    const job = this.#jobs.get(jobId);
    this.#jobs.delete(jobId);
    await job?.end();
  }

  /** Pauses or continues all containers: the leases of their jobs may be over. */
  async pauseAll(isPaused: boolean): Promise<void> {
    await Promise.all([...this.#jobs.values()].map((job) => job.pause(isPaused)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#jobs.keys()].map((jobId) => this.end(jobId)));
    await this.#options.images.trim();
  }
}

class ContainedJob {
  readonly #jobId: string;
  readonly #options: JobContainersOptions;
  readonly #folder: string;
  readonly #lease: HeldLease;
  /** Other agents of the machine, and this one later, may have containers of the same job. */
  readonly #id = randomUUID();
  readonly #mark: string;
  readonly #said = new Set<string>();
  /** Lines that services have said while no step ran. */
  #kept: string[] = [];
  #say: ((line: string) => void) | undefined;
  #network: string | undefined;
  #services: RunningService[] = [];
  #hasServices = false;
  #shared: RunningContainer | undefined;
  readonly #own = new Set<RunningContainer>();
  /** What its containers and services were started from. */
  readonly #images: HeldImage[] = [];

  constructor(jobId: string, leaseMs: number, options: JobContainersOptions) {
    const lease = options.leases.take(leaseMs);
    if (lease === undefined) throw new MillraceError("unavailable", "the lease of the step has run out");
    this.#jobId = jobId;
    this.#options = options;
    this.#lease = lease;
    this.#mark = `${lease.mark}containers-${this.#id};`;
    lease.onRunOut(() => void this.#removeAll());
    options.leases.holdsContainers([options.engine.kind, ...options.engine.removal].join(" "));
    this.#folder = join(options.scratchDir, `job-${jobId}`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    giveTo(options.user, this.#folder);
  }

  async open(request: PlaceRequest): Promise<StepPlace> {
    const { container } = request.dispatch;
    this.#listen(request.say);
    try {
      await this.#openServices(request);
      const running = container === undefined ? undefined : await this.#containerFor(container, request);
      return {
        folder: this.#folder,
        env: Object.fromEntries(this.#services.flatMap((each) => each.address(container !== undefined))),
        start:
          running &&
          (async (launch) => {
            // When the step's own files are there, too.
            await running.beginStep();
            return new ContainedProcess(running, launch);
          }),
        leave: () => this.#listen(undefined),
        close: async () => {
          if (running === undefined || !this.#own.delete(running)) return;
          await running.remove();
        },
      };
    } catch (error) {
      this.#listen(undefined);
      throw error;
    }
  }

  async end(): Promise<void> {
    this.#listen(undefined);
    await this.#removeAll();
    for (const image of this.#images.splice(0)) image.release();
    this.#lease.release();
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      this.#options.trash.take(this.#folder);
    }
  }

  async pause(isPaused: boolean): Promise<void> {
    await Promise.all([...this.#containers(), ...this.#services].map((each) => each.pause(isPaused)));
  }

  #containers(): RunningContainer[] {
    return [...(this.#shared === undefined ? [] : [this.#shared]), ...this.#own];
  }

  async #removeAll(): Promise<void> {
    await Promise.all([...this.#containers(), ...this.#services].map((each) => each.remove()));
    this.#shared = undefined;
    this.#services = [];
    this.#hasServices = false;
    this.#own.clear();
    // What was being started when it was stopped has this label, and so has the network.
    const problem = await this.#options.engine.removeLabelled(this.#ownLabel);
    if (problem !== "")
      this.#options.log.warn({ jobId: this.#jobId, problem }, "containers of a job cannot be removed");
    this.#network = undefined;
  }

  async #openServices(request: PlaceRequest): Promise<void> {
    const { isSecret, signal } = request;
    const { services } = request.dispatch;
    if (services.length === 0 || this.#hasServices) return;
    const { engine } = this.#options;
    await this.#makeNetwork();
    const start = async (service: Service): Promise<RunningService> => {
      const place = {
        engine,
        ...this.#identity(service.name),
        network: this.#network!,
        say: (line: string) => this.#tell(line),
        isSecret,
      };
      return this.#withImage(service, request, (image) => RunningService.start(service, image, place, signal));
    };
    const started = await Promise.allSettled(services.map(start));
    this.#services = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const failed = started.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    this.#hasServices = true;
  }

  async #containerFor(wanted: Container, request: PlaceRequest): Promise<RunningContainer> {
    const { dispatch, workspace, signal } = request;
    const { ofStep } = wanted;
    if (!ofStep && this.#shared?.isRunning === true) return this.#shared;
    const { engine, user } = this.#options;
    const place = {
      engine,
      ...this.#identity(ofStep ? "step" : "job"),
      folders: [workspace, this.#folder],
      network: dispatch.services.length === 0 ? undefined : this.#network,
      hosts: this.#services.flatMap(({ hostEntry }) => hostEntry ?? []),
      owner: user ?? { uid: process.geteuid!(), gid: process.getegid!() },
      say: (line: string) => this.#tell(line),
    };
    const running = await this.#withImage(wanted, request, ({ id }) =>
      RunningContainer.start(id, wanted, place, signal),
    );
    if (ofStep) this.#own.add(running);
    else this.#shared = running;
    return running;
  }

  async #makeNetwork(): Promise<void> {
    if (this.#network !== undefined) return;
    const { name, labels } = this.#identity("network");
    const { engine } = this.#options;
    const { code, stderr } = await engine.ask([
      "network",
      "create",
      ...labels.flatMap((label) => ["--label", label]),
      name,
    ]);
    if (code !== 0) throw new MillraceError("unavailable", `the container engine makes no network: ${stderr}`);
    this.#network = name;
  }

  /** Another program of this machine may remove an image just before its use. Then the image is obtained once more. */
  async #withImage<T>(
    use: Container | Service,
    request: PlaceRequest,
    start: (image: HeldImage) => Promise<T>,
  ): Promise<T> {
    const image = await this.#imageOf(use, request);
    try {
      return await start(image);
    } catch (error) {
      request.signal.throwIfAborted();
      if (await this.#options.images.has(image.id)) throw error;
      return start(await this.#imageOf(use, request));
    }
  }

  async #imageOf(use: Container | Service, { dispatch, say, signal }: PlaceRequest): Promise<HeldImage> {
    const { image, credential, pull, digest } = use;
    const { engine, allowed, images: cache, scratchDir, agentKey, gateway } = this.#options;
    const once = (line: string) => {
      if (!this.#said.has(line)) say(line);
      this.#said.add(line);
    };
    const request = { image, credential, digest, pull: PULL[pull] ?? "missing" } as const;
    const pin = (found: string) => pinImage(gateway, dispatch, { image, digest: found }, signal);
    const options = { engine, allowed, cache, scratchDir, agentKey, pin, say: once, signal, ...this.#client };
    const held = await obtainImage(request, options);
    this.#images.push(held);
    return held;
  }

  get #client() {
    return { mark: this.#mark, permitFile: this.#lease.permitFile };
  }

  get #ownLabel(): string {
    return `millrace.containers=${this.#id}`;
  }

  #identity(what: string) {
    const { agentKey } = this.#options;
    const [lease = ""] = this.#lease.mark.split(";");
    // Engines take lower-case letters, and the names of networks are hosts of other containers.
    const name = `millrace-${what}-${randomUUID().slice(0, 13)}`;
    const guard = lease.slice(0, lease.lastIndexOf("-") + 1);
    const labels = [
      agentLabel(agentKey),
      `millrace.job=${this.#jobId}`,
      this.#ownLabel,
      `millrace.lease=${lease}`,
      `millrace.guard=${guard}`,
    ];
    return { name, labels, ...this.#client };
  }

  #listen(say: ((line: string) => void) | undefined): void {
    this.#say = say;
    if (say === undefined) return;
    for (const line of this.#kept.splice(0)) say(line);
  }

  #tell(line: string): void {
    if (this.#say !== undefined) return this.#say(line);
    this.#kept.push(line);
    if (this.#kept.length > MAX_KEPT_LINES) this.#kept.shift();
  }
}
