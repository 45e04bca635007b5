/**
 * Budgets of work that many expressions share. Work is counted in characters that are read or made, and never measured in
 * time, so that every node comes to the same result. Pure.
 */

/** What all expressions and texts of one run may cost when the run is planned. */
export const MAX_PLAN_WORK = 134_217_728;

/** What all expressions may cost that one message to a run makes its jobs and steps evaluate. */
export const MAX_TURN_WORK = 33_554_432;

/** A turn that has cost so much begins no other message: the rest is for the next turn. */
export const ENOUGH_TURN_WORK = MAX_TURN_WORK / 4;

/** What the texts of one step may cost when the step is dispatched. */
export const MAX_DISPATCH_WORK = 33_554_432;

/** The work that an evaluation counts for at least. */
export const EVALUATION_WORK = 64;

/** An evaluation that would cost more than is left of its budget. Every later evaluation under that budget ends so, too. */
export class WorkUsedUp extends Error {
  /** The place of the expression in its text; null when it is not known. */
  span: { readonly offset: number; readonly length: number } | null = null;

  constructor(limit: number) {
    super(`all expressions together read or make more than ${limit} characters`);
  }
}

type Outcome = { readonly value: unknown } | { readonly failure: unknown };

export class WorkBudget {
  readonly limit: number;
  #used = 0;
  /** What {@link once} has evaluated since the last decision began, by owner and text. */
  readonly #outcomes = new Map<string, Map<string, Outcome>>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** In characters; above `limit` when the budget is used up. */
  get used(): number {
    return this.#used;
  }

  get isUsedUp(): boolean {
    return this.#used > this.limit;
  }

  /** Throws {@link WorkUsedUp} when less than `work` characters are left. */
  charge(work: number): void {
    this.#used += work;
    if (this.isUsedUp) throw new WorkUsedUp(this.limit);
  }

  /**
   * What `evaluate` returns or throws, which is remembered until the next decision begins. A decision evaluates a condition when
   * it names the situation, and again when it acts: both must have the same outcome, although the budget may be used up between
   * them. `owner` and `text` say everything that the outcome depends on within one decision.
   */
  once<T>(owner: string, text: string, evaluate: () => T): T {
    let known = this.#outcomes.get(owner);
    if (known === undefined) this.#outcomes.set(owner, (known = new Map<string, Outcome>()));
    let outcome = known.get(text);
    if (outcome === undefined) known.set(text, (outcome = this.#outcomeOf(text, evaluate)));
    if ("failure" in outcome) throw outcome.failure;
    return outcome.value as T;
  }

  /** The next evaluations belong to another decision. */
  beginDecision(): void {
    if (this.#outcomes.size > 0) this.#outcomes.clear();
  }

  #outcomeOf(text: string, evaluate: () => unknown): Outcome {
    // Also for a text that was parsed before: the work must not depend on what this process remembers.
    this.charge(text.length);
    try {
      return { value: evaluate() };
    } catch (failure) {
      if (failure instanceof WorkUsedUp) throw failure;
      return { failure };
    }
  }
}
