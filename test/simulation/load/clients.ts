/**
 * The clients of one simulation: each says what it wants to an edge, and says it again until it has an answer. So what
 * was acknowledged is known, and nothing else is promised.
 */
import type { RerunScope } from "../../../actors/run/rerun.ts";
import { isHeld, type StepState } from "../../../actors/step/state.ts";
import type { CommandBody, UserCommand } from "../../../src/domain/commands.ts";
import {
  asId,
  type ApprovalId,
  type CommandId,
  jobRunId,
  stepRunId,
  type RunId,
  type UserId,
} from "../../../src/domain/ids.ts";
import { ulid } from "ulid";
import type { Draws } from "../engine/draws.ts";
import type { World } from "../engine/world.ts";
import type { Edge } from "../parts/edge.ts";
import type { Shape } from "./shapes.ts";

export interface Triggered {
  readonly requestId: string;
  readonly runId: RunId;
  readonly shape: Shape;
  isAcknowledged: boolean;
  /** A user has done something that changes how the run may end. */
  isDisturbed: boolean;
}

/** A client that has no answer after this long asks another edge. */
const ANSWER_MS = 3_000;
const AGAIN_MS = 300;
const USER = { userId: asId<UserId>("usr_simulated"), name: "someone" };

export class Clients {
  readonly triggered: Triggered[] = [];
  /** Ids of commands that an edge has acknowledged. */
  readonly acknowledgedCommands: CommandId[] = [];
  readonly #world: World;
  readonly #draws: Draws;
  readonly #edges: () => readonly Edge[];
  readonly #voted = new Set<ApprovalId>();
  #pending = 0;

  constructor(world: World, draws: Draws, edges: () => readonly Edge[]) {
    this.#world = world;
    this.#draws = draws;
    this.#edges = edges;
  }

  /** True while a client waits for an answer. */
  get isWaiting(): boolean {
    return this.#pending > 0;
  }

  trigger(shape: Shape): Triggered {
    const runId = this.#newRunId();
    const triggered: Triggered = { requestId: runId, runId, shape, isAcknowledged: false, isDisturbed: false };
    this.triggered.push(triggered);
    this.#world.trace.note(() => `a client triggers ${shape.name} as ${runId}`);
    this.ask(
      (edge) => edge.trigger(triggered),
      () => (triggered.isAcknowledged = true),
    );
    return triggered;
  }

  rerun(of: Triggered, scope: RerunScope): void {
    const again: Triggered = { ...of, runId: this.#newRunId(), requestId: "rerun", isAcknowledged: false };
    this.ask(
      (edge) => edge.rerun(again, of.runId, scope),
      (isMade) => {
        if (!isMade) return;
        again.isAcknowledged = true;
        this.triggered.push({ ...again, requestId: `rerun of ${of.runId}`, isDisturbed: true });
      },
    );
  }

  /** Stops, pauses or resumes a run. */
  control(run: Triggered, kind: UserCommand["kind"]): void {
    run.isDisturbed = true;
    this.#command(run.runId, { kind, reason: "", operator: USER.name, actor: USER.name });
  }

  cancelJob(run: Triggered, index: number): void {
    run.isDisturbed = true;
    const jobId = jobRunId(run.runId, index, 1);
    this.#command(run.runId, { kind: "cancelJob", jobId, reason: "", operator: USER.name, actor: USER.name });
  }

  /** Changes the priority and the metadata of the first step of a job, which decides whether it still can. */
  updateStep(run: Triggered, index: number, priority: number): void {
    const jobId = jobRunId(run.runId, index, 1);
    const change = { priority, metadata: [["priority", `${priority}`]] } as const;
    const target = { jobId, stepRunId: stepRunId(run.runId, jobId, 0, 1) };
    this.#command(run.runId, { kind: "updateStep", ...target, change, operator: USER.name, actor: USER.name });
  }

  /** Votes on each approval that waits; a user sees it in the store. */
  vote(): void {
    for (const { rootId, actor } of this.#world.store.rows.approval.values()) {
      const approvalId = asId<ApprovalId>(actor.id);
      if (actor.index.status !== "pending" || this.#voted.has(approvalId)) continue;
      this.#voted.add(approvalId);
      const run = this.triggered.find(({ runId }) => runId === rootId);
      const kind = run?.shape.vote ?? "approve";
      this.#command(rootId as RunId, { kind, approvalId, voter: USER, comment: "" });
    }
  }

  /** A gateway says of a step that an agent holds up to which number it has stored its events; a repeat or a late one too. */
  pushEvents(): void {
    const held = [...this.#world.store.rows.step.values()].filter(({ actor }) => isHeld(actor.state as StepState));
    if (held.length === 0) return;
    const { stepRunId, runId, grant } = this.#draws.pick(held).actor.state as StepState;
    const { agentId, token } = grant!;
    this.#command(runId, { kind: "pushEvents", stepRunId, agentId, token, through: this.#draws.between(1, 8) });
  }

  #command(runId: RunId, body: CommandBody): void {
    const id = asId<CommandId>(this.#draws.name("cmd"));
    this.#world.trace.note(() => `a client sends ${body.kind} to ${runId}`);
    this.ask(
      (edge) => edge.command(id, runId, body),
      () => this.acknowledgedCommands.push(id),
    );
  }

  #newRunId(): RunId {
    return asId<RunId>(`run_${ulid(Math.floor(this.#world.now), () => this.#draws.fraction())}`);
  }

  /** Asks living edges, one after the other, until one answers. */
  ask<T>(request: (edge: Edge) => Promise<T>, onAnswer: (answer: T) => void): void {
    const { scheduler } = this.#world;
    let answered = false;
    this.#pending++;
    const attempt = (): void => {
      if (answered) return;
      const alive = this.#edges().filter(({ process }) => process.isAlive);
      if (alive.length === 0) return void scheduler.after(AGAIN_MS, attempt);
      let isOpen = true;
      const again = (): void => {
        if (!isOpen) return;
        isOpen = false;
        scheduler.after(AGAIN_MS, attempt);
      };
      const edge = this.#draws.pick(alive);
      scheduler.after(ANSWER_MS, again);
      edge.process.onDeath.push(again);
      request(edge).then((answer) => {
        // An answer that comes after the client has given up is not read.
        if (!isOpen || answered) return;
        isOpen = false;
        answered = true;
        this.#pending--;
        onAnswer(answer);
      }, again);
    };
    attempt();
  }
}
