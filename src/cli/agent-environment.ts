/** The environment of the agent of a local installation. */
import { availableParallelism } from "node:os";

/**
 * Settings by which a user calls a server. The agent must not get them: a step that runs as the same user can read the
 * environment of the agent.
 */
export const OF_THE_USER: readonly string[] = ["MILLRACE_URL", "MILLRACE_TOKEN"];

/** Standards for one machine, then what the starting process has, then `own`; a later one counts. */
export function agentEnvironment(inherited: NodeJS.ProcessEnv, own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(inherited).filter(([name]) => !OF_THE_USER.includes(name));
  return {
    MILLRACE_AGENT_SLOTS: String(availableParallelism()),
    MILLRACE_AGENT_NAME: "local",
    LOG_LEVEL: "warn",
    ...Object.fromEntries(passed),
    ...own,
  };
}
