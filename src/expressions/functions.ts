/**
 * The functions that expressions may call, each with a bound on the text that it makes: a `format` within a `format`
 * doubles its text at every level, so fifty levels would outgrow any machine.
 */
import { data, wellKnownFunctions } from "@actions/expressions";

export const FUNCTIONS = ["contains", "startsWith", "endsWith", "format", "join", "toJSON", "fromJSON"] as const;

/** Characters of one resolved text. */
export const MAX_TEXT_CHARS = 1_048_576;

type BuiltIn = (typeof wellKnownFunctions)[string];

/** By lower-case name, as the evaluator looks them up. */
export const BOUNDED_FUNCTIONS: Map<string, BuiltIn> = new Map(
  FUNCTIONS.map((name) => name.toLowerCase()).map((name) => [name, bounded(wellKnownFunctions[name]!)]),
);

/** Throws a RangeError when a text of this many characters is too long. */
export function requireTextLength(chars: number): void {
  if (chars > MAX_TEXT_CHARS) throw new RangeError(`the text would have more than ${MAX_TEXT_CHARS} characters`);
}

function bounded(builtIn: BuiltIn): BuiltIn {
  return {
    ...builtIn,
    call: (...args) => {
      // Before the call where the result can be much longer than the arguments, which are bounded themselves.
      if (builtIn.name === "format") requireTextLength(formattedLength(args));
      if (builtIn.name === "join") requireTextLength(joinedLength(args));
      const result = builtIn.call(...args);
      if (result.kind === data.Kind.String) requireTextLength(result.coerceString().length);
      return result;
    },
  };
}

function formattedLength([text, ...values]: readonly data.ExpressionData[]): number {
  const pattern = text!.coerceString();
  let length = pattern.length;
  for (const [, index] of pattern.matchAll(/\{(\d+)/g)) length += values[Number(index)]?.coerceString().length ?? 0;
  return length;
}

function joinedLength([list, separator]: readonly data.ExpressionData[]): number {
  if (!(list instanceof data.Array)) return 0;
  const between = separator?.coerceString().length ?? 1;
  return list.values().reduce((length, item) => length + item.coerceString().length + between, 0);
}
