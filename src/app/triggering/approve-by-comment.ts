/**
 * Approves the run of a fork that a comment on its pull request asks for. The host is asked whether the commenter may write
 * to the repository, and which commit is the head of the pull request. The body of the delivery is not trusted for either.
 */
import { hash } from "node:crypto";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { type Actor, Trail } from "../../audit/trail.ts";
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import { approvalId, asId, newId, type CommandId, type RunId, type UserId } from "../../domain/ids.ts";
import type { Body } from "../../hook-events/fields.ts";
import { commenterOf, type Commenter } from "../../hook-events/run-command.ts";
import type { EventFacts } from "../../hook-events/words.ts";
import type { Hook, ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import { type AggregateHead, isUntrusted } from "../../stores/ports/aggregates.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { trailGround } from "../audit-ground.ts";
import { storeCommand } from "../commands/commands.ts";
import type { WithStores } from "../context.ts";
import { withGit } from "../git/git-problems.ts";
import { openProviderOf } from "../git/provider-access.ts";
import type { TriggeringContext } from "./context.ts";

/** Waiting runs that are looked at. */
const LOOKED_AT = 20;
const NAME_CHARS = 100;

interface RunComment {
  readonly pipeline: Pipeline;
  readonly hook: Hook;
  readonly delivery: Pick<ReceivedDelivery, "deliveryId" | "receivedAt">;
  readonly facts: EventFacts;
  readonly body: Body;
}

/** `later`: the host does not answer. */
interface CommentVerdict {
  readonly outcome: "approved" | "refused" | "later";
  /** For people. */
  readonly text: string;
  /** The run that was approved. */
  readonly runId?: RunId;
}

/** A repeat for the same delivery approves the same run. Rejects only for faults of the store. */
export async function approveByComment(
  context: TriggeringContext & WithStores<"audit">,
  comment: RunComment,
): Promise<CommentVerdict> {
  const { pipeline, hook, facts, body } = comment;
  if (hook.proof === "none") return refused("the hook proves no sender");
  const person = commenterOf(hook.kind, body);
  if (person === undefined) return refused("the sender does not say who has commented");
  const run = await waitingRun(context, comment);
  if (run === undefined) {
    const why = await whyNone(context, comment);
    return refused(`no run of pull request ${facts.number} that the comment could mean waits for an approval: ${why}`);
  }
  const { rootId: runId, origin } = run;
  try {
    const provider = await openProviderOf(context, pipeline);
    if (!(await withGit(() => provider.mayWrite(person)))) {
      return refused(`${person.login} may not write to the repository, as ${hook.kind} says`);
    }
    const head = await withGit(() => provider.headOf(facts.number!));
    if (!isSameCommit(origin.commitSha, head) || (facts.sha !== "" && !isSameCommit(origin.commitSha, facts.sha))) {
      const text = `run ${runId} builds ${origin.commitSha}, and the head of the pull request is ${head}`;
      return refused(`${text}: look at the new commits, and comment again`);
    }
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    const outcome = ERROR_TABLE[error.reason].retry === "later" ? "later" : "refused";
    return { outcome, text: error.message };
  }
  await storeVote(context, comment, runId, person);
  return { outcome: "approved", text: `${person.login} approves commit ${origin.commitSha}`, runId };
}

function refused(text: string): CommentVerdict {
  return { outcome: "refused", text };
}

/** The newest run of the pull request that waits, and that was made before the comment came. */
async function waitingRun(
  { stores }: TriggeringContext,
  { pipeline: { pipelineId }, delivery, facts }: RunComment,
): Promise<AggregateHead | undefined> {
  const search = { pipelineId, ref: facts.ref, trigger: "event", statuses: ["pending"] } as const;
  const { list } = await stores.aggregates.findRuns(search, { limit: LOOKED_AT });
  for (const head of list) {
    if (!isUntrusted(head.origin) || head.summary.createdAt > delivery.receivedAt) continue;
    const id = approvalId(head.rootId, { run: true });
    const approval = (await stores.aggregates.loadActors(head.rootId, [id]))?.actors.find((actor) => actor.id === id);
    if ((approval?.state as ApprovalState | undefined)?.state === "pending") return head;
  }
  return undefined;
}

/** Why no run waits, and what to do. */
async function whyNone(
  { stores }: TriggeringContext,
  { pipeline: { pipelineId }, delivery, facts }: RunComment,
): Promise<string> {
  const search = { pipelineId, ref: facts.ref, trigger: "event" } as const;
  const { list } = await stores.aggregates.findRuns(search, { limit: LOOKED_AT });
  const newest = list.find(({ origin }) => isUntrusted(origin));
  if (newest === undefined) return "the pipeline has no run of it";
  const { rootId: runId, final, summary } = newest;
  if (final) return `its newest run, ${runId}, has ended as ${summary.status}: run that again, and then comment`;
  if (summary.createdAt > delivery.receivedAt) {
    return `its newest run, ${runId}, was made after the comment: look at its commit, and comment again`;
  }
  return `its newest run, ${runId}, was approved before, or needs no approval`;
}

/** Hosts may shorten ids of commits. */
const SHORTEST_COMMIT = 12;

function isSameCommit(whole: string, named: string): boolean {
  return named.length >= SHORTEST_COMMIT && whole.toLowerCase().startsWith(named.toLowerCase());
}

async function storeVote(
  context: TriggeringContext & WithStores<"audit">,
  { hook, delivery: { deliveryId } }: RunComment,
  runId: RunId,
  { login, id }: Commenter,
): Promise<void> {
  const approval = approvalId(runId, { run: true });
  const name = `${hook.kind}:${login}`.slice(0, NAME_CHARS);
  // A delivery is processed again after a crash: it is one vote all the same.
  const key = hash("sha256", JSON.stringify(["comment", deliveryId, approval]), "hex");
  const claim = { key, bodyHash: "comment", createdId: newId("cmd"), at: context.clock.now() };
  const { createdId } = await context.stores.idempotency.claim(claim);
  const actor: Actor = { kind: "operator", id: null, name, proof: null };
  const trail = new Trail(trailGround(context), {
    operation: "approve",
    actor,
    from: { door: "machine", address: null, userAgent: null },
    requestId: null,
  });
  const voter = { userId: asId<UserId>(`${hook.kind}:${id === "" ? login : id}`), name };
  await storeCommand(context, {
    id: asId<CommandId>(createdId),
    rootId: runId,
    body: { kind: "approve", approvalId: approval, voter, comment: `a comment, delivery ${deliveryId}` },
    order: { by: { trail }, change: { kind: "approval", id: approval, after: { runId, decision: "approve" } } },
  });
}
