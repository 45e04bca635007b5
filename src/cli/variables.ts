/** Reads the variables of a run from the command line. */
import { UsageError } from "./command-line.ts";

/** The variables of `name=value` texts. Throws a UsageError for a text without a name. */
export function parseVariables(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new UsageError(`--var ${text}: must be name=value`);
      return [text.slice(0, at), text.slice(at + 1)] as const;
    }),
  );
}
