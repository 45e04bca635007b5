/** Names: each once in its place, and such as an environment takes. */
import { clip } from "../text/read-text.ts";
import { asMap, type Located } from "../text/raw.ts";
import type { Path, Source } from "../text/source.ts";

/** Reports a `name` (or the given key) that is in `names` already, and adds it. */
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
    const words = key === "id" ? `another ${kind} has the id` : `another ${kind} is called`;
    source.report("duplicate-name", [...path, key], `${words} "${clip(name)}" already`);
  }
  names.add(name);
}

/** The name of an environment variable. */
export const ENV_NAME = /^[A-Za-z_]\w*$/;

export function checkEnvNames(source: Source, env: unknown, path: Path): void {
  for (const name of Object.keys(asMap(env) ?? {})) {
    // Every map refuses the empty key.
    if (name === "" || ENV_NAME.test(name)) continue;
    const message = `"${clip(name)}" cannot be the name of an environment variable`;
    source.report("invalid-value", [...path, name], message, { spot: "key" });
  }
}
