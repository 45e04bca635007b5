/** The states of all approvals that wait for a decision, for the feed over approvals. */
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { ApprovalId, RunId } from "../../domain/ids.ts";
import { APPROVAL_STATUSES, type ApprovalStatus } from "../../domain/status.ts";
import { type ApprovalHint, APPROVALS_CHANNEL } from "../../feed/feed.ts";
import type { ApprovalLocation } from "../../stores/ports/aggregates.ts";
import type { WithStores } from "../context.ts";
import type { FollowingContext } from "./context.ts";
import type { StateSource } from "./state-feed.ts";

/** Approvals of one read. */
const PAGE = 200;
/** Approvals that a feed follows at most; of more, the oldest ones. */
const MAX_APPROVALS = 10_000;
/** An approval may be stored so long after the time that it names. */
const MARGIN_MS = 30_000;
const ENDED = APPROVAL_STATUSES.filter((status) => status !== "pending");

export function approvalStates(
  context: Pick<FollowingContext, "feed" | "log"> & WithStores<"aggregates">,
): StateSource<ApprovalState> {
  const { aggregates } = context.stores;
  const read = async (status: ApprovalStatus, page: number, descending: boolean): Promise<readonly ApprovalState[]> => {
    const { list } = await aggregates.listApprovals({ status }, { page, pageSize: PAGE, descending });
    return list.map(stateOf);
  };
  const readOne = async (runId: RunId, approvalId: ApprovalId): Promise<ApprovalState | undefined> => {
    const actor = (await aggregates.loadActors(runId, [approvalId]))?.actors.find(({ id }) => id === approvalId);
    return actor?.state as ApprovalState | undefined;
  };
  return {
    keyOf: ({ approvalId }) => approvalId,
    // An approval gains votes, and then ends.
    versionOf: ({ state, approvals }) => approvals.length + (state === "pending" ? 0 : 1_000_000),
    isOver: ({ state }) => state !== "pending",
    isSame: (one, other) => one.state === other.state && one.approvals.length === other.approvals.length,
    async *readLive(since) {
      for (let page = 1; (page - 1) * PAGE < MAX_APPROVALS; page++) {
        const states = await read("pending", page, false);
        yield states;
        if (states.length < PAGE) break;
      }
      if (since === null) return;
      // What was asked for and has ended between two reads was not among them.
      for (const status of ENDED) {
        yield (await read(status, 1, true)).filter(({ requestedAt }) => requestedAt >= since - MARGIN_MS);
      }
    },
    readOne: ({ runId, approvalId }) => readOne(runId, approvalId),
    listen: (heard) =>
      context.feed.follow(APPROVALS_CHANNEL, (hint) => {
        const { runId, approvalId } = hint as ApprovalHint;
        readOne(runId, approvalId).then(
          (state) => state && heard(state),
          (error: unknown) => context.log.debug({ runId, error: String(error) }, "an approval cannot be read now"),
        );
      }),
  };
}

const stateOf = ({ actor }: ApprovalLocation): ApprovalState => actor.state as ApprovalState;
