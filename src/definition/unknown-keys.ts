/** What to say of a key that a map of the language does not have: it is misspelt, stands elsewhere, or comes from another language. */
import { didYouMean } from "../expressions/nearest.ts";
import { clip } from "./read-text.ts";
import { placeAt, placesWithKey } from "./schema-at.ts";
import type { Path, Source } from "./source.ts";

/** Keys of other pipeline languages, and what is written here. By their letters alone. */
const FOREIGN: Readonly<Record<string, string>> = {
  condition: "write `when`",
  container: "steps run on the agent itself; there are no containers yet",
  dependencies: "write `needs`",
  dependson: "write `needs`",
  environment: "write `env` for variables, or `target.environment`",
  except: "write `when`",
  if: "write `when`",
  on: "write `triggers`",
  only: "write `when`",
  parallel: "write `matrix`",
  permissions: "there are none here: an agent's rights are those of its user",
  rules: "write `when`",
  run: "write `uses: shell` and `args: { script: ... }`",
  runson: "write `agentSelector: { matchLabels: ... }`",
  schedule: "write `triggers: { cron: ... }`",
  script: "write `uses: shell` and `args: { script: ... }`",
  strategy: "write `matrix`",
  tags: "write `agentSelector: { matchLabels: ... }`",
  timeoutminutes: "write `timeout: 15m`",
  with: "write `args`",
};

/** Reports a key that the map at `path` does not have. */
export function reportUnknownKey(source: Source, path: Path, key: string): void {
  const at = [...path, key];
  const place = placeAt(path);
  const words = place?.words ?? "this map";
  const keys = (place?.keys ?? []).filter((known) => !/^[A-Z]/.test(known));
  if (key === "image" && words === "a job") {
    source.report("reserved-key", at, "`image` is reserved: steps do not run in containers yet", {
      spot: "key",
      hint: "steps run with the rights of their agent; select an agent that has what they need",
    });
    return;
  }
  if (key === "content" && words === "a pipeline") {
    source.report("removed-key", at, "`content` no longer exists: a definition is given as the structured `spec`", {
      spot: "key",
    });
    return;
  }
  const hint = foreignKey(key);
  const near = hint === undefined ? nearKey(key, keys) : "";
  source.report("unknown-key", at, `unknown key "${clip(key)}" in ${words}${near}`, {
    spot: "key",
    hint: hint ?? (near === "" ? ownersOf(key) : undefined) ?? `known keys: ${keys.join(", ")}`,
  });
}

function foreignKey(key: string): string | undefined {
  const spelled = letters(key);
  return Object.hasOwn(FOREIGN, spelled) ? FOREIGN[spelled] : undefined;
}

function nearKey(key: string, keys: readonly string[]): string {
  const same = keys.find((known) => letters(known) === letters(key));
  return same === undefined ? didYouMean(key, keys) : ` (did you mean "${same}"?)`;
}

function ownersOf(key: string): string | undefined {
  const owners = placesWithKey(key).map(({ words }) => words);
  return owners.length === 0 ? undefined : `\`${key}\` is a key of ${owners.slice(0, 3).join(", ")}`;
}

/** `continue-on-error` and `continue_on_error` are spellings of `continueOnError`. */
function letters(key: string): string {
  return key.replaceAll(/[-_]/g, "").toLowerCase();
}
