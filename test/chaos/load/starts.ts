/**
 * What the control plane starts by itself beside the load: at times of schedules, some of which were missed in an outage; by
 * deliveries of a sender that repeats them; and by pushes, whose runs are reported to the host of the repository.
 */
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { asId, type PipelineId } from "../../../src/domain/ids.ts";
import type { AcknowledgedTrigger, PromisedStart } from "../check/evidence.ts";
import { deliveryCause, timeCause } from "../check/run-evidence.ts";
import { scheduleBeforeOutage } from "../../support/missed-times.ts";
import { until } from "../../support/until.ts";
import type { CodeHost } from "../world/code-host.ts";
import { type Installation, SHARDS } from "../world/installation.ts";
import type { Random } from "../world/random.ts";
import type { Client } from "./client.ts";
import type { Load } from "./load.ts";
import { type Definition, step } from "./step.ts";

/** Between two things that happen. */
const PACE_MS = 3_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const LIVE = { pipeline: "scheduled", name: "each minute" };
const MISSED = "made-up-for";
const DELIVERED = "delivered";
const PUSHED = "pushed";
/** Both triggers match each delivery of the pipeline. */
const TRIGGERS = ["first", "second"];
const KEY = "the key with which the sender signs";
const HAPPENINGS = ["delivery", "missedTimes", "push"] as const;

interface ScheduleView {
  readonly waiting: readonly string[];
  readonly outcomes: readonly { readonly at: string; readonly until: string; readonly runId: string | null }[];
}

/** Times of one schedule that are promised a run. */
interface Watched {
  readonly pipeline: string;
  readonly name: string;
  readonly times: readonly { readonly atMs: number; readonly isCertain: boolean }[];
  readonly overlap: "allow" | "queue";
}

interface DeliveryRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Sent extends DeliveryRequest {
  readonly starts: readonly Omit<PromisedStart, "told">[];
  /** A delivery of the same change under another id. */
  readonly again?: DeliveryRequest;
}

export interface StartsInputs {
  readonly client: Client;
  readonly load: Load;
  readonly installation: Pick<Installation, "ledger" | "stores">;
  readonly host: CodeHost;
  readonly notify: readonly object[];
  readonly random: Random;
  /** False when the clock of a worker is wrong: it decides about times that are still to come. */
  readonly isLive: boolean;
}

export class Starts {
  readonly #inputs: StartsInputs;
  readonly #definitions: Readonly<Record<string, Definition>>;
  readonly #watched: Watched[] = [];
  readonly #sent: Sent[] = [];
  readonly #flows: Promise<void>[] = [];
  readonly #stopping = new AbortController();
  readonly #paths = { delivery: "", push: "" };
  #live: { readonly savedAt: number; readonly seenAt: number } | undefined;
  #count = 0;
  #happening: Promise<void> = Promise.resolve();

  constructor(inputs: StartsInputs) {
    this.#inputs = inputs;
    const jobs = (name: string, beats = 1) => [{ name, steps: [step(inputs.installation.ledger, "works", { beats })] }];
    const cron = [{ name: LIVE.name, schedule: "* * * * *", catchUp: "all" }];
    const event = TRIGGERS.map((name) => ({ name, provider: "generic", event: "push" }));
    this.#definitions = {
      [LIVE.pipeline]: { triggers: { cron }, jobs: jobs("at-its-time") },
      [MISSED]: { jobs: jobs("made-up-for") },
      [DELIVERED]: { triggers: { event }, jobs: jobs("delivered") },
      [PUSHED]: {
        triggers: { event: [{ name: PUSHED, provider: "gitlab", event: "push" }] },
        jobs: jobs("pushed", 12),
      },
    };
  }

  /** Makes pipelines and hooks, and begins. */
  async begin(): Promise<void> {
    const { client, load, host, random, isLive } = this.#inputs;
    for (const [name, value] of Object.entries({ HOOK_KEY: KEY, LOGIN: host.login, HOST_TOKEN: host.token })) {
      await client.call("POST", "/projects/default/secrets", { name, value });
    }
    await load.addPipeline(MISSED, this.#definitions[MISSED]!);
    await load.addPipeline(DELIVERED, this.#definitions[DELIVERED]!);
    await this.#push(false);
    const repository = { repoUrl: host.url, repoCredential: "LOGIN" };
    const api = { repoApiCredential: "HOST_TOKEN", repoProvider: host.kind };
    const { pipelineId } = await client.call<{ pipelineId: string }>("POST", "/pipelines", {
      name: PUSHED,
      ...repository,
      ...api,
    });
    load.adopt(PUSHED, pipelineId);
    for (const [kind, happening, proof] of [
      ["generic", "delivery", "signature"],
      [host.kind, "push", "token"],
    ] as const) {
      const given = { name: kind, kind, proof, secret: "HOOK_KEY" };
      const hook = await client.call<{ path: string }>("POST", "/projects/default/hooks", given);
      this.#paths[happening] = hook.path;
    }
    if (isLive) await this.#beginLive();
    this.#happening = this.#happen(random.fork("happenings"));
  }

  /** Ends what makes new starts. All of them are promised when this resolves; rejects when a client gave up. */
  async end(): Promise<void> {
    this.#stopping.abort();
    await this.#happening;
    await Promise.all(this.#flows);
    if (this.#live !== undefined) await this.#endLive(this.#live);
  }

  /** Resolves when all promised runs were made, at the latest after `withinMs`. Answers what was promised. */
  async settled(withinMs: number): Promise<readonly PromisedStart[]> {
    const end = performance.now() + withinMs;
    const leftMs = () => Math.max(0, end - performance.now());
    const starts: PromisedStart[] = [];
    for (const watched of this.#watched) {
      const { pipeline, name, times, overlap } = watched;
      const view = await this.#scheduleWhen(watched, leftMs());
      const ofRun = (atMs: number) =>
        view.outcomes.flatMap(({ at, runId }) => (Date.parse(at) === atMs && runId !== null ? [runId] : []));
      const exclusion: AcknowledgedTrigger["exclusion"] = overlap === "queue" ? { unit: "run", kind: name } : null;
      const definition = this.#definitions[pipeline]!;
      for (const { atMs, isCertain } of times) {
        const by = timeCause(name, atMs);
        starts.push({ by, isCertain, definition, exclusion, told: ofRun(atMs), commit: null });
      }
    }
    for (const sent of this.#sent) {
      const runs = await this.#runsOf(sent, leftMs());
      if (sent.again !== undefined) runs.push(...(await this.#runsOf(sent.again, leftMs())));
      for (const start of sent.starts) starts.push({ ...start, told: await this.#runsBy(runs, start.by) });
    }
    return starts;
  }

  async #happen(random: Random): Promise<void> {
    for (const { signal } = this.#stopping; !signal.aborted;) {
      const happening = HAPPENINGS[this.#count % HAPPENINGS.length]!;
      const own = random.fork(`${this.#count++}`);
      const flow =
        happening === "delivery" ? this.#deliver(own) : happening === "push" ? this.#push(true) : this.#missTimes(own);
      flow.catch(() => {}); // `end` rejects with the failure.
      this.#flows.push(flow);
      await sleep(PACE_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #beginLive(): Promise<void> {
    const { client, load } = this.#inputs;
    const savedAt = Date.now();
    const pipelineId = await load.addPipeline(LIVE.pipeline, this.#definitions[LIVE.pipeline]!);
    await until("the schedule is there", async () => {
      const { total } = await client.call<{ total: number }>("GET", `/pipelines/${pipelineId}/schedules`);
      return total === 1;
    });
    this.#live = { savedAt, seenAt: Date.now() };
  }

  async #endLive({ savedAt, seenAt }: { readonly savedAt: number; readonly seenAt: number }): Promise<void> {
    const sentAt = Date.now();
    const path = `${this.#schedulePath(LIVE.pipeline, LIVE.name)}/pause`;
    await this.#inputs.client.call("POST", path, { requestId: "the-end-of-the-load" });
    const answeredAt = Date.now();
    const times: { readonly atMs: number; readonly isCertain: boolean }[] = [];
    for (let atMs = Math.ceil(savedAt / MINUTE_MS) * MINUTE_MS; atMs <= answeredAt; atMs += MINUTE_MS) {
      times.push({ atMs, isCertain: atMs > seenAt && atMs < sentAt });
    }
    this.#watched.push({ ...LIVE, times, overlap: "allow" });
  }

  /** Two minutes of the last hour have passed in an outage, and the workers find the schedule only now. */
  async #missTimes(random: Random): Promise<void> {
    const { installation, load } = this.#inputs;
    const hour = new Date(Math.floor((Date.now() - HOUR_MS) / HOUR_MS) * HOUR_MS);
    const minutes = [random.between(0, 29), random.between(30, 59)];
    const name = `missed ${this.#count}`;
    const overlap = random.pick(["allow", "queue"] as const);
    const missed = {
      pipelineId: asId<PipelineId>(load.pipelineId(MISSED)),
      name,
      schedule: `${minutes.join()} ${hour.getUTCHours()} ${hour.getUTCDate()} ${hour.getUTCMonth() + 1} *`,
      overlap,
      definedAt: hour.getTime() - 1,
    };
    const times = minutes.map((minute) => ({ atMs: hour.getTime() + minute * MINUTE_MS, isCertain: true }));
    this.#watched.push({ pipeline: MISSED, name, times, overlap });
    const schedule = scheduleBeforeOutage(missed, SHARDS);
    await until("the schedule is stored", () =>
      installation.stores.aggregates.create(schedule).then(
        () => true,
        () => false,
      ),
    );
  }

  /** As a sender does that has no answer in time, some deliveries come again; some changes are told under another id, too. */
  async #deliver(random: Random): Promise<void> {
    const sha = Array.from({ length: 40 }, () => random.pick(Array.from("0123456789abcdef"))).join("");
    const body = JSON.stringify({ event: "push", ref: "refs/heads/main", before: "f".repeat(40), sha });
    const signature = createHmac("sha256", KEY).update(body).digest("hex");
    const requestOf = (id: string) => ({
      path: this.#paths.delivery,
      headers: { "idempotency-key": id, "x-hub-signature-256": `sha256=${signature}` },
      body,
    });
    const starts = TRIGGERS.map((trigger) => {
      const by = deliveryCause(sha, trigger);
      return { by, isCertain: true, definition: this.#definitions[DELIVERED]!, exclusion: null, commit: null };
    });
    const sent = { ...requestOf(sha), starts };
    const isToldAgain = random.between(0, 1) === 0;
    const again = requestOf(`${sha}-again`);
    // While calls of the store are cut off, the second delivery may be the one that is processed first.
    this.#sent.push(isToldAgain ? { ...sent, again } : sent);
    const times = random.between(1, 2);
    await Promise.all(Array.from({ length: times }, () => this.#send(sent)));
    if (isToldAgain) await this.#send(again);
  }

  async #push(isTold: boolean): Promise<void> {
    const { host, notify } = this.#inputs;
    const definition = this.#definitions[PUSHED]!;
    const { before, after } = host.push({ ...definition, notify }, `change ${this.#count}`);
    if (!isTold) return;
    const body = JSON.stringify({
      object_kind: "push",
      ref: "refs/heads/main",
      before,
      after,
      checkout_sha: after,
      user_username: "ann",
      project: { path_with_namespace: host.name, git_http_url: host.url, default_branch: "main" },
      commits: [{ id: after, message: "a change" }],
    });
    const headers = { "idempotency-key": after, "x-gitlab-event": "Push Hook", "x-gitlab-token": KEY };
    const by = deliveryCause(after, PUSHED);
    const starts = [{ by, isCertain: true, definition, exclusion: null, commit: after }];
    const sent = { path: this.#paths.push, headers, body, starts };
    this.#sent.push(sent);
    await this.#send(sent);
  }

  #send({ path, headers, body }: DeliveryRequest): Promise<{ readonly state: string; readonly runs: string[] }> {
    return this.#inputs.client.deliver(path, headers, body);
  }

  /** The runs that the delivery has started, once it is done: a repeat answers with them. */
  async #runsOf(sent: DeliveryRequest, withinMs: number): Promise<string[]> {
    let runs: string[] = [];
    const isDone = async () => {
      const answer = await this.#send(sent);
      runs = answer.runs;
      return answer.state === "done";
    };
    await until("the delivery is done", isDone, withinMs).catch(() => {});
    return runs;
  }

  /** Those of the runs that have this cause. */
  async #runsBy(runs: readonly string[], by: string): Promise<readonly string[]> {
    const { load } = this.#inputs;
    const causes = await Promise.all(
      runs.map(async (runId) => {
        const { trigger } = await load.run(runId);
        return trigger.event === undefined ? "" : deliveryCause(trigger.event.sha, trigger.event.name);
      }),
    );
    return runs.filter((_, at) => causes[at] === by);
  }

  /** The schedule as the API tells it, once no time of it waits. */
  async #scheduleWhen({ pipeline, name, times }: Watched, withinMs: number): Promise<ScheduleView> {
    const path = this.#schedulePath(pipeline, name);
    let view: ScheduleView = { waiting: [], outcomes: [] };
    const due = times.filter(({ isCertain }) => isCertain).length;
    const isDecided = async () => {
      view = await this.#inputs.client.call<ScheduleView>("GET", path);
      return view.waiting.length === 0 && view.outcomes.length >= due;
    };
    await until("the times are decided", isDecided, withinMs).catch(() => {});
    return view;
  }

  #schedulePath(pipeline: string, name: string): string {
    return `/pipelines/${this.#inputs.load.pipelineId(pipeline)}/schedules/${encodeURIComponent(name)}`;
  }
}
