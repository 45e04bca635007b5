/**
 * The shape of a full transition table: rows are inputs, columns are states, and a missing entry does not compile.
 *
 * An entry is a target state or one of three words. `same`: the input repeats what the actor knows already. `late`: the
 * input is about something that is over; the kernel counts it. `never`: no order of valid messages can bring the input
 * in this state; the kernel stores the message as a dead letter and logs an error.
 */

export type Entry<State extends string> = State | "same" | "late" | "never";

export type TransitionTable<State extends string, Input extends string> = {
  readonly [I in Input]: { readonly [S in State]: Entry<State> };
};

/** The entry for an input in a state. Throws {@link IllegalTransition} for `never`. */
export function lookUp<State extends string, Input extends string>(
  kind: string,
  table: TransitionTable<State, Input>,
  input: Input,
  state: State,
): State | "same" | "late" {
  const entry: Entry<State> = table[input][state];
  if (entry === "never") throw new IllegalTransition(kind, state, input);
  return entry;
}

/** No order of valid messages can bring this input in this state: a bug, or a peer that breaks the protocol. */
export class IllegalTransition extends Error {
  override readonly name = "IllegalTransition";
  readonly kind: string;
  readonly state: string;
  readonly input: string;

  constructor(kind: string, state: string, input: string) {
    super(`the input ${input} is not valid for a ${kind} that is ${state}`);
    this.kind = kind;
    this.state = state;
    this.input = input;
  }
}
