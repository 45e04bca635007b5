/** The environment of the command lines of container engines, for the agent and its guard. */

/** Variables of the agent's environment by which an engine finds its daemon, its storage and its settings. */
const ENGINE_VARIABLES =
  /^(?:PATH|HOME|USER|TMPDIR|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|CONTAINERS?_\w+|DOCKER_\w+|STORAGE_\w+|REGISTRY_AUTH_FILE|(?:HTTPS?|NO)_PROXY|(?:https?|no)_proxy)$/;

/** The environment of the engine's programs. */
export function engineEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => ENGINE_VARIABLES.test(name));
  return { ...(Object.fromEntries(entries) as Record<string, string>), LC_ALL: "C" };
}
