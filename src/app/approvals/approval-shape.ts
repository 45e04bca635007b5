/** The shapes of approvals as users read them. */
import { z } from "zod";
import type { ApprovalId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import { ROLES } from "../../domain/roles.ts";
import { APPROVAL_STATUSES } from "../../domain/status.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";

const CastVoteShape = shape("CastVote", () => ({
  userId: z.string(),
  name: z.string(),
  at: time,
  comment: z.string(),
}));

const approvalFields = () => ({
  approvalId: id<ApprovalId>(),
  runId: id<RunId>(),
  pipelineId: id<PipelineId>(),
  projectId: id<ProjectId>(),
  /** What the approval opens, by its name; the run as a whole, by its id. */
  gate: z.union([
    fields(() => ({ run: id<RunId>() })),
    fields(() => ({ stage: z.string() })),
    fields(() => ({ job: z.string() })),
  ]),
  status: z.enum(APPROVAL_STATUSES),
  message: z.string(),
  requestedAt: time,
  /** Null when the approval has ended. */
  expiresAt: time.nullable(),
  endedAt: time.nullable(),
  approvals: listOf(CastVoteShape),
  rejection: CastVoteShape.nullable(),
  /** Users who must all approve. */
  required: listOf(z.string()),
  count: wholeNumber,
  missing: fields(() => ({ users: listOf(z.string()), count: wholeNumber })),
  /** Who may approve besides the `required` users, who have to. */
  allowed: fields(() => ({ users: listOf(z.string()), roles: listOf(z.enum(ROLES)) })),
  /** True when the user who triggered the run may not approve. */
  preventSelf: z.boolean(),
});

export const ApprovalShape = shape("Approval", approvalFields);

/** An approval as one caller sees it. */
export const ApprovalForCallerShape = shape("ApprovalForCaller", () => ({
  ...approvalFields(),
  /** The caller may approve it now. */
  mayDecide: z.boolean(),
  /** Why the caller may not, for people; null when the caller may. */
  whyNot: z.string().nullable(),
}));
