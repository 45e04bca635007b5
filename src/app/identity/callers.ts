/** The kinds of callers, as they are once their proof is checked. */
import type { Trail } from "../../audit/trail.ts";
import type { AgentId, JobRunId, RunId, TokenId, UserId } from "../../domain/ids.ts";
import type { Rights, Role } from "../../domain/roles.ts";
import type { Standing } from "./session-proof.ts";
import type { WorkloadGrant } from "./workload-proofs.ts";

/** What the call leaves in the audit log; absent for a call that only reads. */
type CallTrail = Trail | undefined;

/** An authenticated caller. Callers with an agent or registration token may only call the agent operations of gRPC. */
export type Caller = UserCaller | AgentCaller | RegistrationCaller | JobCaller;

export interface UserCaller {
  readonly kind: "user";
  readonly userId: UserId;
  readonly name: string;
  /** In the whole installation. */
  readonly role: Role | null;
  /** What is bound to tenants and projects; absent for nothing. */
  readonly rights?: Rights;
  readonly scopes: readonly string[];
  /** True for a running job, which calls the API of its own project with a token of its own. */
  readonly isJob?: boolean;
  /** True for a token that counts in some projects alone; its role and rights are what its user has in them. */
  readonly isNarrowed?: boolean;
  /** What the caller's proof stands on. */
  readonly standing?: Standing;
  /** The W3C `traceparent` of the call; absent without a valid one. */
  readonly traceparent?: string;
  readonly trail?: CallTrail;
}

/** A user who may call an operation. `role` is the highest role that the user has where the operation works. */
export interface ActingUser extends UserCaller {
  readonly role: Role;
}

export interface AgentCaller {
  readonly kind: "agent";
  readonly agentId: AgentId;
  readonly tokenId: TokenId;
  readonly trail?: CallTrail;
}

/** A machine that may register as an agent: by a registration token, or by an identity token of a trusted issuer. */
export interface RegistrationCaller {
  readonly kind: "registration";
  readonly proof: { readonly tokenId: TokenId } | { readonly workload: WorkloadGrant };
  readonly trail?: CallTrail;
}

/** A running job that asks for identity tokens. */
export interface JobCaller {
  readonly kind: "job";
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly trail?: CallTrail;
}
