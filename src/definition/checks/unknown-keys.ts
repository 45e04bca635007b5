/** Explains an unknown key: it is misspelt, belongs to another map, or comes from another pipeline language. */
import { nearest } from "../../expressions/nearest.ts";
import { clip } from "../text/read-text.ts";
import { placeAt, placesWithKey } from "../schema-at.ts";
import type { Path, Source } from "../text/source.ts";

/** Keys of other pipeline languages, in lower case without `-` and `_`, and what to write in this language. */
const FOREIGN: Readonly<Record<string, string>> = {
  "<<": "YAML 1.2 has no merge keys: use an anchor for a whole value",
  afterscript: "write a step with `when: always()`",
  agents: "write `agentSelector: { matchLabels: ... }`",
  allowfailure: "write `continueOnError`",
  beforescript: "write a step before the others",
  block: "write `approval` on the job or the stage",
  cancelinprogress: "write `onConflict: cancelRunning`",
  command: "write `uses: shell` and `args: { script: ... }`",
  commands: "write `uses: shell` and `args: { script: ... }`",
  condition: "write `when`",
  contents: "write `api: read`: the job's own token for the API reads its project",
  container: "write `container` on the job or the step",
  dag: "write `jobs` with `needs`",
  dependencies: "write `needs`",
  dependson: "write `needs`",
  displayname: "write `name`",
  environment: "write `env` for variables, or `target.environment`",
  except: "write `when`",
  expression: "write `schedule` for the times of a cron trigger",
  extends: "use an anchor for a whole value",
  if: "write `when`",
  idtokens: "write `permissions: { idToken: true }`",
  label: "write `name`",
  on: "write `triggers`",
  only: "write `when`",
  parallel: "write `matrix`",
  parallelism: "write `matrix`, with `maxParallel`",
  pool: "write `agentSelector: { matchLabels: ... }`",
  retrystrategy: "write `retry`",
  rules: "write `when`",
  run: "write `uses: shell` and `args: { script: ... }`",
  runson: "write `agentSelector: { matchLabels: ... }`",
  schedule: "write `triggers: { cron: ... }`",
  script: "write `uses: shell` and `args: { script: ... }`",
  services: "write `services` on the job",
  softfail: "write `continueOnError`",
  stage: "write the job into the `jobs` of that stage",
  strategy: "write `matrix`",
  tags: "write `agentSelector: { matchLabels: ... }`",
  templates: "write `jobs` with `needs`",
  timeoutminutes: "write `timeout: 15m`",
  with: "write `args`",
};

/** Reports a key that the map at `path` does not have. */
export function reportUnknownKey(source: Source, path: Path, key: string): void {
  const at = [...path, key];
  const words = placeAt(path)?.words ?? "this map";
  const keys = keysAt(path);
  if (key === "image" && words === "a job") {
    source.report("reserved-key", at, "`image` is reserved: the image of a job belongs to its `container`", {
      spot: "key",
      hint: "write `container: IMAGE`, or `container: { image: IMAGE }`",
    });
    return;
  }
  if (key === "content" && words === "a pipeline") {
    source.report("removed-key", at, "`content` no longer exists: give the definition as the structured `spec`", {
      spot: "key",
    });
    return;
  }
  const hint = foreignKey(key);
  const meant = hint === undefined ? nearKey(key, keys) : undefined;
  const near = meant === undefined ? "" : ` (did you mean "${meant}"?)`;
  source.report("unknown-key", at, `unknown key "${clip(key)}" in ${words}${near}`, {
    spot: "key",
    hint: hint ?? (near === "" ? ownersOf(key) : undefined) ?? `known keys: ${keys.join(", ")}`,
  });
}

/** The known key that an unknown key of the map at `path` probably means; undefined when none is likely. */
export function meantKey(path: Path, key: string): string | undefined {
  const foreign = foreignKey(key);
  return foreign === undefined ? nearKey(key, keysAt(path)) : /^write `(\w+)/.exec(foreign)?.[1];
}

/** The keys of the map at `path`, each in its lower-case spelling. */
function keysAt(path: Path): readonly string[] {
  return (placeAt(path)?.keys ?? []).filter((known) => !/^[A-Z]/.test(known));
}

function foreignKey(key: string): string | undefined {
  const spelled = plainSpelling(key);
  return Object.hasOwn(FOREIGN, spelled) ? FOREIGN[spelled] : undefined;
}

function nearKey(key: string, keys: readonly string[]): string | undefined {
  return keys.find((known) => plainSpelling(known) === plainSpelling(key)) ?? nearest(key, keys);
}

function ownersOf(key: string): string | undefined {
  const owners = placesWithKey(key).map(({ words }) => words);
  return owners.length === 0 ? undefined : `\`${key}\` is a key of ${owners.slice(0, 3).join(", ")}`;
}

/** A key in lower case without `-` and `_`: `continue-on-error` and `continue_on_error` are spellings of `continueOnError`. */
function plainSpelling(key: string): string {
  return key.replaceAll(/[-_]/g, "").toLowerCase();
}
