/**
 * The shape of a full transition table: rows are inputs, columns are states, and no cell may be missing.
 *
 * A cell is a target state, `same` (the input repeats what is already so), `late` (it speaks of what is over; counted)
 * or `never` (no order of valid messages can produce it: a dead letter with an alarm).
 */

export type Cell<State extends string> = State | "same" | "late" | "never";

export type TransitionTable<State extends string, Input extends string> = {
  readonly [I in Input]: { readonly [S in State]: Cell<State> };
};

/** The cell for an input in a state; throws {@link IllegalTransition} for `never`. */
export function lookUp<State extends string, Input extends string>(
  kind: string,
  table: TransitionTable<State, Input>,
  input: Input,
  state: State,
): State | "same" | "late" {
  const cell: Cell<State> = table[input][state];
  if (cell === "never") throw new IllegalTransition(kind, state, input);
  return cell;
}

/** An input that no valid order of messages can bring in this state. */
export class IllegalTransition extends Error {
  override readonly name = "IllegalTransition";
  readonly kind: string;
  readonly state: string;
  readonly input: string;

  constructor(kind: string, state: string, input: string) {
    super(`a ${kind} that is ${state} cannot meet ${input}`);
    this.kind = kind;
    this.state = state;
    this.input = input;
  }
}
