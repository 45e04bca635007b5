/** Pipelines that pushes start, and the sender of the pushes: it repeats each delivery until it is answered. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import {
  asId,
  DEFAULT_PROJECT,
  type HookId,
  type PipelineId,
  type RevisionId,
  type RunId,
} from "../../../src/domain/ids.ts";
import type { Draws } from "../engine/draws.ts";
import type { World } from "../engine/world.ts";
import type { Clients } from "../load/clients.ts";
import { pipelineRecord } from "../../support/pipelines.ts";
import { addProject } from "./reporting.ts";

const HOOK = asId<HookId>("hook_simulated");
const STEP = "{ uses: shell, args: { script: work 300 } }";
const JOBS = `jobs:\n  - { name: only, agentLeaseTimeout: 10s, retry: { attempts: 10 }, steps: [${STEP}] }`;
const trigger = (name: string, branches: string): string =>
  `    - { name: ${name}, provider: github, event: push, branches: [${branches}] }`;
const triggered = (...triggers: readonly string[]): string => ["triggers:", "  event:", ...triggers, JOBS].join("\n");

/** By the name of the pipeline. */
const TEXTS: Readonly<Record<string, string>> = {
  each: triggered(trigger("any", '"**"')),
  split: triggered(trigger("main", "main"), trigger("release", '"release/*"')),
  newest: [
    "concurrency: { group: newest pushes, limit: 1, onConflict: cancelRunning }",
    triggered(trigger("main", "main")),
  ].join("\n"),
};
/** The branches whose pushes each trigger starts, by pipeline and trigger. */
export const STARTED_BY: Readonly<Record<string, readonly string[]>> = {
  "pl_each any": ["main", "release/1"],
  "pl_split main": ["main"],
  "pl_split release": ["release/1"],
  "pl_newest main": ["main"],
};
/** Runs of this pipeline end older ones. */
export const SUPERSEDING = "pl_newest";

/** A push, and the deliveries that tell it: under several ids when the sender has several webhooks. */
export interface Push {
  readonly branch: string;
  readonly before: string;
  readonly sha: string;
  readonly deliveries: Told[];
}

export interface Told {
  readonly senderId: string;
  readonly body: Buffer;
  /** The delivery as the first answer has named it; undefined until then. */
  deliveryId: string | undefined;
  /** All runs that an answer has named. */
  readonly named: Set<RunId>;
  /** Answers that said that the delivery had come before. */
  duplicates: number;
}

/** Stores a hook that asks for no proof, and the pipelines that listen to it. */
export function listenToPushes(world: World): void {
  world.hasOutside = true;
  addProject(world);
  const { catalogue, hooks } = world.store;
  hooks.hooks.set(HOOK, {
    hookId: HOOK,
    projectId: DEFAULT_PROJECT,
    name: "code",
    kind: "github",
    proof: "none",
    secret: null,
    enabled: true,
    perMinute: 600,
    createdAt: 0,
    createdBy: "someone",
    updatedAt: 0,
    version: 1,
  });
  for (const [name, text] of Object.entries(TEXTS)) {
    const [pipelineId, revisionId] = [asId<PipelineId>(`pl_${name}`), asId<RevisionId>(`rev_${name}`)];
    const by = { message: "", editor: "someone", actor: "someone", createdAt: 0 };
    catalogue.pipelines.set(
      pipelineId,
      pipelineRecord(pipelineId, { name, headRevisionId: revisionId, defaultBranch: "main" }),
    );
    catalogue.revisions.set(revisionId, { revisionId, pipelineId, format: "yaml", text, ...by });
  }
}

export class Sender {
  readonly pushes: Push[] = [];
  readonly #world: World;
  readonly #draws: Draws;
  readonly #clients: Clients;
  #sent = 0;
  /** The newest commit of each branch. */
  readonly #tips = new Map<string, string>();

  constructor(world: World, draws: Draws, clients: Clients) {
    this.#world = world;
    this.#draws = draws;
    this.#clients = clients;
  }

  /** Sends some pushes within a time. Some come again, some under another id too, and not in the order of the pushes. */
  begin(pushes: number, forMs: number): void {
    for (let nth = 0; nth < pushes; nth++) {
      const push = this.push(this.#draws.pick(["main", "main", "release/1"]));
      const delayMs = this.#draws.fraction() * forMs;
      this.#later(delayMs, () => this.#tell(push, 0.5));
      if (this.#draws.chance(0.3)) this.#later(delayMs + this.#draws.fraction() * 2_000, () => this.#tell(push, 0.2));
    }
  }

  push(branch: string): Push {
    const sha = hash("sha1", `commit ${this.pushes.length}`, "hex");
    const push: Push = { branch, before: this.#tips.get(branch) ?? "0".repeat(40), sha, deliveries: [] };
    this.#tips.set(branch, sha);
    this.pushes.push(push);
    return push;
  }

  /** Tells a push under an id of its own. */
  tell(push: Push): Told {
    const { branch, before, sha } = push;
    const body = {
      ref: `refs/heads/${branch}`,
      before,
      after: sha,
      repository: { full_name: "team/code" },
      sender: { login: "someone", id: 1 },
      head_commit: { message: "Change something" },
    };
    const told: Told = {
      senderId: `sent-${this.#sent++}`,
      body: Buffer.from(JSON.stringify(body)),
      deliveryId: undefined,
      named: new Set(),
      duplicates: 0,
    };
    push.deliveries.push(told);
    this.send(told);
    return told;
  }

  /** Sends a delivery until it is answered. */
  send(told: Told): void {
    const headers: IncomingHttpHeaders = { "x-github-delivery": told.senderId, "x-github-event": "push" };
    this.#world.trace.note(() => `the sender tells ${told.senderId}`);
    this.#clients.ask(
      (edge) => edge.receive(HOOK, headers, told.body),
      ({ deliveryId, duplicate, runs }) => {
        told.deliveryId ??= deliveryId;
        if (duplicate) told.duplicates++;
        for (const runId of runs) told.named.add(runId);
      },
    );
  }

  #tell(push: Push, again: number): void {
    const told = this.tell(push);
    if (this.#draws.chance(again)) this.#later(this.#draws.fraction() * 6_000, () => this.send(told));
  }

  #later(ms: number, run: () => void): void {
    this.#world.scheduler.after(ms, run);
  }
}
