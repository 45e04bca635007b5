/** What is noted while a scenario is played. */
import type { AgentKill, Violation, ViolationKind } from "./check/evidence.ts";

export interface Recovery {
  readonly what: string;
  readonly tookMs: number;
}

export class Protocol {
  readonly violations: Violation[] = [];
  readonly recoveries: Recovery[] = [];
  readonly figures: string[] = [];
  readonly agentKills: AgentKill[] = [];
  kills = 0;
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  say(text: string): void {
    this.#say(text);
  }

  /** Counts a process that was killed, or a server that was taken away. */
  struck(what: string): void {
    this.kills++;
    this.#say(`  ${what} is struck`);
  }

  /** A recovery; one that took longer than `boundMs` is a violation. */
  recovered(what: string, tookMs: number, boundMs = Infinity): void {
    this.recoveries.push({ what, tookMs });
    this.#say(`  ${what}: ${Math.round(tookMs)} ms`);
    if (tookMs > boundMs) this.violated("stuck", `${what} took ${Math.round(tookMs)} ms, more than ${boundMs}`);
  }

  /** A figure in words; one that is not within its bound is a violation. */
  measured(figure: string, isWithin: boolean): void {
    this.figures.push(figure);
    this.#say(`  ${figure}`);
    if (!isWithin) this.violated("wrong", `out of bounds: ${figure}`);
  }

  violated(kind: ViolationKind, text: string): void {
    this.violations.push({ kind, text });
  }

  counts(): Record<ViolationKind, number> {
    const counts: Record<ViolationKind, number> = { lost: 0, doubled: 0, reordered: 0, stuck: 0, wrong: 0, leaked: 0 };
    for (const { kind } of this.violations) counts[kind]++;
    return counts;
  }
}
