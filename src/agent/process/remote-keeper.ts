/** The keeper of the steps of starters that has its launcher do the work. */
import type { ResourceUsage } from "../../domain/resource-usage.ts";
import type { KeeperReport, KeeperRequest } from "./launch-protocol.ts";
import type { KeptEnd, StarterEnd, StarterStep, StepKeeper } from "./step-keeper.ts";

interface Pending {
  readonly mark: string;
  readonly onUsage: (usage: ResourceUsage | undefined) => void;
  readonly onGone: (gone?: Promise<void>) => void;
}

export class RemoteKeeper implements StepKeeper {
  readonly #send: (request: KeeperRequest) => void;
  readonly #pending = new Map<number, Pending>();
  #asked = 0;
  #lost: Promise<void> | undefined;

  constructor(send: (request: KeeperRequest) => void) {
    this.#send = send;
  }

  watch(steps: readonly StarterStep[]): void {
    this.#send({ type: "watch", steps });
  }

  kill(step: StarterStep): void {
    this.#send({ type: "killAll", step });
  }

  end(step: StarterStep, end: StarterEnd): KeptEnd {
    if (this.#lost !== undefined) return { usage: Promise.resolve(undefined), gone: this.#lost };
    const id = ++this.#asked;
    let onUsage!: Pending["onUsage"];
    let onGone!: Pending["onGone"];
    const usage = new Promise<ResourceUsage | undefined>((resolve) => (onUsage = resolve));
    const gone = new Promise<void>((resolve) => (onGone = resolve));
    this.#pending.set(id, { mark: step.mark, onUsage, onGone });
    this.#send({ type: "end", id, step, end });
    return { usage, gone };
  }

  receive(report: KeeperReport): void {
    const pending = this.#pending.get(report.id);
    if (report.type === "usage") return pending?.onUsage(report.usage);
    this.#pending.delete(report.id);
    pending?.onGone();
  }

  /** The marks of the steps whose end the launcher has not confirmed. */
  get unconfirmed(): readonly string[] {
    return [...this.#pending.values()].map(({ mark }) => mark);
  }

  /** The launcher has ended. `gone` resolves when no process is left of any step. */
  lose(gone: Promise<void>): void {
    this.#lost = gone;
    for (const { onUsage, onGone } of this.#pending.values()) {
      onUsage(undefined);
      onGone(gone);
    }
    this.#pending.clear();
  }
}
