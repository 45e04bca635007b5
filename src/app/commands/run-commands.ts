/** Stop, pause and resume: commands in the inbox of a run, which the run decides. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { UserCommand } from "../../domain/commands.ts";
import type { Verdict } from "../../domain/effects.ts";
import { newId, type PipelineId, type RunId } from "../../domain/ids.ts";
import { RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { type Caller, claimedIdentity } from "../identity/access.ts";
import type { CommandsContext } from "./context.ts";
import { type NewCommand, storeCommand, verdictOn } from "./commands.ts";
import { reachRun } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import { id, keyOf, shape, wholeNumber } from "../shapes.ts";

type CommandKind = UserCommand["kind"];

export const commandBody = z.strictObject({
  reason: z.string().max(2_000).optional(),
  operator: z.string().max(200).optional(),
  requestId: z.string().max(200).optional(),
});

export interface RunCommand extends z.output<typeof commandBody> {
  /** Absent for a run of any pipeline. */
  readonly pipelineId?: PipelineId;
  readonly runId: RunId;
}

export const CommandShape = shape("Command", () => ({
  runId: id<RunId>(),
  pipelineId: id<PipelineId>(),
  /** The status after the decision; for a stop, the status when the command was stored. */
  status: keyOf(RUN_STATUS_CODES),
  statusCode: wholeNumber,
}));

type CommandView = z.infer<typeof CommandShape>;

/** Answers as soon as the stop is stored. Throws `not_found`, and `conflict` when the run is final. */
export async function stopRun(context: CommandsContext, caller: Caller, input: RunCommand): Promise<CommandView> {
  const command = await admit(context, caller, "stop", input);
  if (command.verdict === undefined) await storeCommand(context, command);
  return commandView(command.head, command.head.summary.status);
}

/**
 * Answers when the run has decided. Throws `not_found`, `conflict` when the run is not running, and `unavailable` when
 * the run has not decided within 5 s: the command is then stored, and safe to repeat with the same `requestId`.
 */
export function pauseRun(context: CommandsContext, caller: Caller, input: RunCommand): Promise<CommandView> {
  return sendAndWait(context, caller, "pause", input);
}

/** As {@link pauseRun}; `conflict` when the run is not paused. */
export function resumeRun(context: CommandsContext, caller: Caller, input: RunCommand): Promise<CommandView> {
  return sendAndWait(context, caller, "resume", input);
}

interface AdmittedCommand extends NewCommand {
  readonly head: AggregateHead;
  /** Undefined when the command is not stored yet, null when it is stored and not decided. */
  readonly verdict: Verdict | null | undefined;
}

async function admit(
  context: CommandsContext,
  caller: Caller,
  kind: CommandKind,
  input: RunCommand,
): Promise<AdmittedCommand> {
  const { user, found: head } = await reachRun(context, caller, "controlRun", input.runId, input.pipelineId);
  const operator = claimedIdentity(user, input.operator, "operator");
  const { id: commandId, repeated } = await claimRequest(context, {
    caller: user,
    scope: `${kind}/${input.runId}`,
    requestId: input.requestId,
    body: input,
    freshId: () => newId("cmd"),
  });
  const verdict = repeated ? await context.stores.inbox.verdict(commandId) : undefined;
  // A repeat of a stored command gets the answer of that command, even if the run is final now.
  if (verdict === undefined && head.final) throw refused(kind, head.summary.status);
  if (verdict !== undefined) user.trail?.changedNothing();
  const body: UserCommand = { kind, reason: input.reason ?? "", operator, actor: user.name };
  const change = {
    kind: "run",
    id: head.rootId,
    after: { pipelineId: head.summary.pipelineId, command: kind },
  } as const;
  return { id: commandId, rootId: head.rootId, head, body, verdict, order: { by: user, change } };
}

async function sendAndWait(
  context: CommandsContext,
  caller: Caller,
  kind: "pause" | "resume",
  input: RunCommand,
): Promise<CommandView> {
  const command = await admit(context, caller, kind, input);
  const verdict = await verdictOn(context, command, command.verdict);
  const status = verdict.status as RunStatus;
  if (verdict.outcome === "refused") throw refused(kind, status);
  return commandView(command.head, status);
}

function refused(kind: CommandKind, status: RunStatus): MillraceError {
  const rule = { stop: "a run that has not ended", pause: "a running run", resume: "a paused run" }[kind];
  return new MillraceError("conflict", `cannot ${kind} a run that is ${status}: only ${rule} can take it`);
}

function commandView(head: AggregateHead, status: RunStatus): CommandView {
  return {
    runId: head.rootId,
    pipelineId: head.summary.pipelineId,
    status,
    statusCode: RUN_STATUS_CODES[status],
  };
}
