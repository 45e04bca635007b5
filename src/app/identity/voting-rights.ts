/** Who may vote on an approval. Pure. */
import type { VoteCommand } from "../../domain/commands.ts";
import type { PlannedApproval } from "../../domain/plan.ts";
import type { Role } from "../../domain/roles.ts";
import type { RunOrigin } from "../../stores/ports/aggregates.ts";

export type Vote = VoteCommand["kind"];

/** What decides who may vote. `gate` is the name of the gated stage or job, for people. */
export interface VotingRule {
  readonly gate: string;
  readonly planned: Pick<PlannedApproval, "required" | "users" | "roles" | "preventSelf">;
  readonly origin: Pick<RunOrigin, "triggeredBy" | "actor">;
}

/** Approvers that a message names, at most: enough for a user to find one to ask. */
const MAX_NAMED = 20;

/**
 * Why this person may not vote, with who may; null when the person may vote. The authenticated caller is the person
 * that counts: a token with the scope `act-as` does not let its owner vote as another person. With `preventSelf`, the
 * person who triggered the run may not approve it, but may reject it.
 */
export function whyNotVote(
  person: VoteCommand["voter"] & { readonly role: Role },
  vote: Vote,
  { gate, planned, origin }: VotingRule,
): string | null {
  const { required, users, roles, preventSelf } = planned;
  const isNamedIn = (names: readonly string[]): boolean => names.includes(person.name) || names.includes(person.userId);
  const approvers = approversOf(planned);
  if (!isNamedIn(required) && !isNamedIn(users) && !roles.includes(person.role)) {
    return `${person.name} may not ${vote} ${gate}: only ${approvers} may`;
  }
  if (vote === "approve" && preventSelf && isNamedIn([origin.triggeredBy, origin.actor])) {
    return `${person.name} triggered this run, so another user has to approve ${gate}: ${approvers} may`;
  }
  return null;
}

function approversOf({ required, users, roles }: VotingRule["planned"]): string {
  const names = [...new Set([...required, ...users])];
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} others`] : [];
  const byRole = roles.length === 0 ? [] : [`users with the role ${list(roles, "or")}`];
  return list([...names.slice(0, MAX_NAMED), ...more, ...byRole], "and");
}

function list(items: readonly string[], word: "and" | "or"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;
}
