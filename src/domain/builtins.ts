/** What a step can use without a plugin. */

export const BUILTINS = ["shell", "checkout", "artifact", "upload", "cache", "http"] as const;
export type Builtin = (typeof BUILTINS)[number];

/** The builtin that `uses` names (`shell` or `shell@v1`), or undefined. */
export function builtinOf(uses: string): Builtin | undefined {
  const name = uses.endsWith("@v1") ? uses.slice(0, -3) : uses;
  return BUILTINS.find((builtin) => builtin === name);
}
