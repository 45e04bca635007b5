/** One case of the conformance suite: what an agent must do, and how the suite checks it. */
import type { Bench } from "./bench.ts";

export interface ConformanceCase {
  /** A sentence whose subject is the agent. */
  readonly name: string;
  /**
   * `push`: the case sends notices over Connect; an agent that pulls skips it. `command`: the case ends and restarts the
   * agent, so it is skipped when the suite did not start the agent.
   */
  readonly needs?: "push" | "command";
  /** Resolves with a measurement for people, if there is one. Rejects with a `CaseFailure` when the agent does not conform. */
  readonly run: (bench: Bench) => Promise<string | void>;
}
