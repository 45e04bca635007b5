/** One case of the conformance suite: what an agent must do, and how it is seen to do it. */
import type { Bench } from "./bench.ts";

export interface ConformanceCase {
  /** A sentence about the agent. */
  readonly name: string;
  /**
   * `push`: orders come over Connect; a pulling agent is excused. `command`: the suite ends and starts the agent, so it
   * must have started it.
   */
  readonly needs?: "push" | "command";
  /** Answers what was measured, for people. Rejects with a `CaseFailure` when the agent does otherwise. */
  readonly run: (bench: Bench) => Promise<string | void>;
}
