/** Settings of one command of Git, which stand in its environment: not in a file, and in no list of processes. Pure. */

export type Setting = readonly [key: string, value: string];

/** User name for a token. Hosts that check the name accept this one. */
export const TOKEN_USER = "x-access-token";
/**
 * A credential helper: shell text that contains nothing from outside. Git asks for a credential with `get`, and the
 * variables hold it.
 */
export const CREDENTIAL_SCRIPT =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$MILLRACE_GIT_USER" "$MILLRACE_GIT_PASSWORD"; }; f';

/** The variables by which Git 2.31 and newer takes the settings. */
export function settingsAsVariables(settings: readonly Setting[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...(Object.fromEntries(pairs) as Record<string, string>), GIT_CONFIG_COUNT: String(settings.length) };
}
