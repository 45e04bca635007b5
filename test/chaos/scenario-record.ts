/** The record of a scenario while it is played: violations, recoveries, figures and kills. */
import type { Absence, Span, Violation, ViolationKind } from "./check/evidence.ts";

export interface Recovery {
  readonly what: string;
  readonly tookMs: number;
}

export class ScenarioRecord {
  readonly violations: Violation[] = [];
  readonly recoveries: Recovery[] = [];
  readonly figures: string[] = [];
  readonly absences: Absence[] = [];
  readonly outages: Span[] = [];
  readonly disturbances: Span[] = [];
  kills = 0;
  /** True when a worker was frozen or cut off, and may have done late what it had begun. */
  hasZombies = false;
  readonly #say: (text: string) => void;
  #isUnbound = false;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  say(text: string): void {
    this.#say(text);
  }

  /** Counts a killed process or a server that was taken away. */
  addKill(what: string): void {
    this.kills++;
    this.#say(`  fault hits ${what}`);
  }

  /** Adds a recovery. A recovery that took longer than `boundMs` is a violation. */
  addRecovery(what: string, tookMs: number, boundMs = Infinity): void {
    if (this.#isUnbound) {
      this.#say(`  ${what}: ${Math.round(tookMs)} ms`);
      return;
    }
    this.recoveries.push({ what, tookMs });
    this.#say(`  ${what}: ${Math.round(tookMs)} ms`);
    if (tookMs > boundMs) this.addViolation("stuck", `${what} took ${Math.round(tookMs)} ms, more than ${boundMs}`);
  }

  /** Runs faults whose recoveries have no bounds and are not counted. */
  async withoutBounds(faults: () => Promise<void>): Promise<void> {
    this.#isUnbound = true;
    await faults().finally(() => (this.#isUnbound = false));
  }

  /** Adds a measurement, as a sentence. A figure that is not within its bound is a violation. */
  addFigure(figure: string, isWithin: boolean): void {
    this.figures.push(figure);
    this.#say(`  ${figure}`);
    if (!isWithin) this.addViolation("wrong", `out of bounds: ${figure}`);
  }

  /** Records that an agent is away while `during` runs. */
  async whileAway(agentId: string, how: Absence["how"], during: () => Promise<void>): Promise<void> {
    const at = this.absences.push({ agentId, how, fromMs: Date.now(), untilMs: Infinity }) - 1;
    await during().finally(() => (this.absences[at] = { ...this.absences[at]!, untilMs: Date.now() }));
  }

  /** Records that Redis or the store is away for all nodes while `during` runs. */
  whileOut(during: () => Promise<void>): Promise<void> {
    return noteSpan(this.outages, during);
  }

  /** Records that the store loses calls of all nodes while `during` runs. */
  whileDisturbed(during: () => Promise<void>): Promise<void> {
    return noteSpan(this.disturbances, during);
  }

  addViolation(kind: ViolationKind, text: string): void {
    this.violations.push({ kind, text });
  }

  counts(): Record<ViolationKind, number> {
    const counts: Record<ViolationKind, number> = { lost: 0, doubled: 0, reordered: 0, stuck: 0, wrong: 0, leaked: 0 };
    for (const { kind } of this.violations) counts[kind]++;
    return counts;
  }
}

async function noteSpan(spans: Span[], during: () => Promise<void>): Promise<void> {
  const at = spans.push({ fromMs: Date.now(), untilMs: Infinity }) - 1;
  await during().finally(() => (spans[at] = { ...spans[at]!, untilMs: Date.now() }));
}
