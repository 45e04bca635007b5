/** Variables of the environment that look like settings: a misspelt setting would keep its default without a word. */
import { nearest } from "../expressions/nearest.ts";
import { KNOWN_VARIABLES } from "../settings/config.ts";

const PREFIX = "MILLRACE_";

/** A text for each variable that is no setting, and whose name is near that of one. */
export function misspeltVariables(environment: NodeJS.ProcessEnv): readonly string[] {
  const ends = KNOWN_VARIABLES.flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith(PREFIX) || KNOWN_VARIABLES.includes(name)) return [];
    const near = nearest(name.slice(PREFIX.length), ends);
    return near === undefined ? [] : [`the variable ${name} is no setting: did you mean ${PREFIX}${near}?`];
  });
}
