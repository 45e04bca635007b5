/** Checks of names: unique names, and valid names of environment variables. */
import { clip } from "../text/read-text.ts";
import { asMap, type Located } from "../text/raw.ts";
import type { Path, Source } from "../text/source.ts";

/** Reports a `name` (or the given key) that `names` has already, and adds it to `names`. */
export function checkName(
  source: Source,
  names: Set<string>,
  { value, path }: Located,
  kind: string,
  key: "name" | "id" = "name",
): void {
  const name = value[key];
  if (typeof name !== "string") return;
  if (names.has(name)) {
    source.report("duplicate-name", [...path, key], `another ${kind} already has the ${key} "${clip(name)}"`);
  }
  names.add(name);
}

/** The name of an environment variable. */
export const ENV_NAME = /^[A-Za-z_]\w*$/;

/** Reports keys of `env`, which may have any shape, that no environment variable can be named. */
export function checkEnvNames(source: Source, env: unknown, path: Path): void {
  for (const name of Object.keys(asMap(env) ?? {})) {
    // The schema reports an empty key.
    if (name === "" || ENV_NAME.test(name)) continue;
    const message = `"${clip(name)}" cannot be the name of an environment variable`;
    const hint = "use letters, digits and `_`, and do not begin with a digit";
    source.report("invalid-value", [...path, name], message, { spot: "key", hint });
  }
}
