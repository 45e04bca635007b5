/**
 * The approvals that a run of `millrace run` waits for. With `--approve` they are given at once; otherwise they are printed,
 * because no other user can reach this installation.
 */
import { MillraceError } from "../domain/errors.ts";
import type { ApiClient } from "./api-client.ts";
import type { RunDetail } from "./run-tree.ts";
import { printable, type Screen } from "./screen.ts";

/** What the approval opens, for people. */
export function gateText(gate: RunDetail["approvals"][number]["gate"]): string {
  if ("run" in gate) return "the run";
  return "stage" in gate ? `stage ${gate.stage}` : `job ${gate.job}`;
}

export class RunApprovals {
  readonly #api: Pick<ApiClient, "approve">;
  readonly #screen: Screen;
  readonly #approves: boolean;
  readonly #seen = new Set<string>();

  /** `approves`: whether each approval is given. */
  constructor(api: Pick<ApiClient, "approve">, screen: Screen, approves: boolean) {
    this.#api = api;
    this.#screen = screen;
    this.#approves = approves;
  }

  /** Handles each pending approval of the run once. Returns without waiting for the answers. */
  update({ pipelineId, runId, approvals }: RunDetail): void {
    for (const { approvalId, gate, message, status } of approvals) {
      if (status !== "pending" || this.#seen.has(approvalId)) continue;
      this.#seen.add(approvalId);
      const what = gateText(gate);
      const title = message === "" ? what : `${what}: ${message}`;
      if (!this.#approves) this.#print(`waits for the approval of ${title} (run with --approve to give it)`);
      else void this.#approve(pipelineId, runId, approvalId, title);
    }
  }

  async #approve(pipelineId: string, runId: string, approvalId: string, title: string): Promise<void> {
    try {
      await this.#api.approve(pipelineId, runId, approvalId);
      this.#print(`approved ${title}`);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      this.#print(`cannot approve ${title}: ${error.message}`);
    }
  }

  #print(text: string): void {
    this.#screen.print(printable(text));
  }
}
