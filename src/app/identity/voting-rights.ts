/** Who may vote on an approval. Pure. */
import type { VoteCommand } from "../../domain/commands.ts";
import type { PlannedApproval } from "../../domain/plan.ts";
import type { Role } from "../../domain/roles.ts";
import type { RunOrigin } from "../../stores/ports/aggregates.ts";

export type Vote = VoteCommand["kind"];

/** What decides who may; the gate's name is for people. */
export interface VotingRule {
  readonly gate: string;
  readonly planned: Pick<PlannedApproval, "required" | "users" | "roles" | "preventSelf">;
  readonly origin: Pick<RunOrigin, "triggeredBy" | "actor">;
}

/** Enough to find somebody to ask. */
const NAMED = 20;

/**
 * Why this person may not, with who may instead; null when they may. It is the caller as authenticated who counts: a
 * token that may act as others makes no second person of its owner. Whoever triggered the run may reject all the same.
 */
export function whyNotVote(
  person: VoteCommand["voter"] & { readonly role: Role },
  vote: Vote,
  { gate, planned, origin }: VotingRule,
): string | null {
  const { required, users, roles, preventSelf } = planned;
  const isAny = (names: readonly string[]): boolean => names.includes(person.name) || names.includes(person.userId);
  const who = approversOf(planned);
  if (!isAny(required) && !isAny(users) && !roles.includes(person.role)) {
    return `${person.name} may not ${vote} ${gate}: only ${who} may`;
  }
  if (vote === "approve" && preventSelf && isAny([origin.triggeredBy, origin.actor])) {
    return `${person.name} has triggered this run, so somebody else of ${who} has to approve ${gate}`;
  }
  return null;
}

function approversOf({ required, users, roles }: VotingRule["planned"]): string {
  const names = [...new Set([...required, ...users])];
  const more = names.length > NAMED ? [`${names.length - NAMED} others`] : [];
  const byRole = roles.length === 0 ? [] : [`users with the role ${list(roles, "or")}`];
  return list([...names.slice(0, NAMED), ...more, ...byRole], "and");
}

function list(items: readonly string[], word: "and" | "or"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;
}
