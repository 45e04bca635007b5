/** What an identity token of a workload proves: that its bearer may register as an agent. */
import type { AgentReach, Labels } from "../../domain/labels.ts";

export interface WorkloadGrant {
  /** The id of the trusted issuer in the settings. */
  readonly id: string;
  /** The claim `sub`, for the audit log. */
  readonly subject: string;
  /** Trusted labels of the agents that register with it. */
  readonly labels: Labels;
  /** Which jobs they may get; absent for agents of the installation. */
  readonly reach?: AgentReach;
}

export interface WorkloadProver {
  /**
   * Undefined for a token that no trusted issuer has made. Throws `unauthenticated` for one that a trusted issuer may have
   * made and that does not count, and `unavailable` when the issuer's keys cannot be read.
   */
  prove(bearer: string): Promise<WorkloadGrant | undefined>;
}
