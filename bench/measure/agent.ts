/** The agent of a measured installation. */
import { join } from "node:path";
import type { ProcessWorld, StartedProcess } from "../../test/support/processes.ts";

/** The registration token of measured installations. */
export const REGISTRATION = "a-registration-token-for-the-benchmark-alone";

/**
 * Starts an agent, and resolves when it takes jobs. `gateway`: `host:port`. `node`: the program `node` that runs it; absent for
 * that of this process. The agent keeps its data in the folder `agent` of the world.
 */
export async function startAgent(
  world: ProcessWorld,
  gateway: string,
  slots: number,
  node?: string,
): Promise<StartedProcess> {
  const agent = world.agent(gateway, {
    ...(node !== undefined && { node }),
    env: {
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      MILLRACE_AGENT_SLOTS: String(slots),
      MILLRACE_DATA_DIR: join(world.folder, "agent"),
      LOG_LEVEL: "info",
    },
  });
  await agent.prints('"msg":"ready"');
  return agent;
}
