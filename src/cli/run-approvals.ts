/** The approvals that a run at the command line asks for: given by whoever has said so beforehand, else told, since nobody else could. */
import type { RunDetail } from "../app/runs/run-view.ts";
import { MillraceError } from "../domain/errors.ts";
import type { ApiClient } from "./api-client.ts";
import { printable, type Screen } from "./screen.ts";

export class RunApprovals {
  readonly #api: Pick<ApiClient, "approve">;
  readonly #screen: Screen;
  readonly #gives: boolean;
  readonly #seen = new Set<string>();

  constructor(api: Pick<ApiClient, "approve">, screen: Screen, gives: boolean) {
    this.#api = api;
    this.#screen = screen;
    this.#gives = gives;
  }

  /** Returns at once; each approval is looked at once. */
  update({ pipelineId, runId, approvals }: RunDetail): void {
    for (const { approvalId, gate, message, status } of approvals) {
      if (status !== "pending" || this.#seen.has(approvalId)) continue;
      this.#seen.add(approvalId);
      const what = "stage" in gate ? `stage ${gate.stage}` : `job ${gate.job}`;
      const asked = message === "" ? what : `${what}: ${message}`;
      if (!this.#gives) this.#say(`waits for the approval of ${asked} (--approve gives it)`);
      else void this.#give(pipelineId, runId, approvalId, asked);
    }
  }

  async #give(pipelineId: string, runId: string, approvalId: string, asked: string): Promise<void> {
    try {
      await this.#api.approve(pipelineId, runId, approvalId);
      this.#say(`approved ${asked}`);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      this.#say(`cannot approve ${asked}: ${error.message}`);
    }
  }

  #say(text: string): void {
    this.#screen.print(printable(text));
  }
}
