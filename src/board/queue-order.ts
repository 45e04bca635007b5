/** In which order the board gives the offers of several lanes away, for the place of one of them. Pure. */
import type { ProjectId } from "../domain/ids.ts";
import type { Lane } from "./board.ts";

/** A lane with offers that no gateway has taken. */
export interface WaitingLane {
  readonly laneId: string;
  readonly lane: Lane;
  readonly offers: number;
  /** `queuedAt` of the oldest. */
  readonly oldest: number;
  /** Larger for a project that was served later; 0 for one that was not. */
  readonly turn: number;
}

/** The offers of one project at one priority. */
interface Share {
  readonly projectId: ProjectId;
  offers: number;
  /** When the oldest of them began to wait. */
  oldest: number;
}

/**
 * Tells how many offers of these lanes go before an offer of the project at this priority, when no other offer comes and no
 * quota is reached. `older`: how many offers of the same project and priority are older. Undefined when the lanes have no
 * offer of that project at that priority.
 */
export function orderOf(
  lanes: readonly WaitingLane[],
  { projectId, priority }: { readonly projectId: ProjectId; readonly priority: number },
): ((older: number) => number) | undefined {
  const turns = new Map(lanes.map(({ lane, turn }) => [lane.projectId, turn]));
  let latest = Math.max(0, ...turns.values());
  let higher = 0;
  const byPriority = new Map<number, WaitingLane[]>();
  for (const one of lanes) {
    const { priority: of } = one.lane;
    if (!byPriority.get(of)?.push(one)) byPriority.set(of, [one]);
  }
  for (const above of [...byPriority.keys()].filter((one) => one > priority).sort((a, b) => b - a)) {
    const shares = sharesOf(byPriority.get(above)!, turns);
    for (const { offers } of shares) higher += offers;
    // Projects that were served at a higher priority wait for the others at a lower one. The last round of a project is
    // as late as it has offers.
    for (const share of shares.toSorted((a, b) => a.offers - b.offers)) turns.set(share.projectId, ++latest);
  }
  const shares = sharesOf(byPriority.get(priority) ?? [], turns);
  const own = shares.findIndex((share) => share.projectId === projectId);
  if (own === -1) return undefined;
  return (older) =>
    shares.reduce(
      (sum, { offers }, at) => (at === own ? sum : sum + Math.min(offers, at < own ? older + 1 : older)),
      higher + older,
    );
}

/** The shares of these lanes of one priority, in the order in which their projects are served in each round. */
function sharesOf(lanes: readonly WaitingLane[], turns: ReadonlyMap<ProjectId, number>): readonly Share[] {
  const shares = new Map<ProjectId, Share>();
  for (const { lane, offers, oldest } of lanes) {
    const share = shares.get(lane.projectId);
    if (share === undefined) shares.set(lane.projectId, { projectId: lane.projectId, offers, oldest });
    else {
      share.offers += offers;
      share.oldest = Math.min(share.oldest, oldest);
    }
  }
  // Of projects that were never served, the one with the oldest offer comes first.
  const turnOf = ({ projectId }: Share): number => turns.get(projectId) ?? 0;
  return [...shares.values()].sort((a, b) => turnOf(a) - turnOf(b) || a.oldest - b.oldest);
}
