/** Prepares the command of a step: of `shell`, `checkout` or a plugin. */
import type { Dispatch } from "../../proto/generated/agent/v1/agent.ts";
import { isPluginReference } from "../domain/plugins.ts";
import { isCheckout, prepareCheckout } from "./builtins/checkout/checkout-step.ts";
import { type PreparedCommand, prepareCommand } from "./builtins/shell-step.ts";
import type { StepSurroundings } from "./step-surroundings.ts";

/**
 * Undefined when the step was asked to end (`signal`) before its command was ready. `ownFolder`: a folder for all that the
 * command needs, where the step does not see those of the agent.
 */
export async function prepareStep(
  dispatch: Dispatch,
  env: Readonly<Record<string, string>>,
  { scratchDir: ofAgent, user, gateway, plugins }: StepSurroundings,
  ownFolder: string | undefined,
  signal: AbortSignal,
): Promise<PreparedCommand | undefined> {
  const scratchDir = ownFolder ?? ofAgent;
  if (isCheckout(dispatch.uses)) return prepareCheckout(dispatch, env, scratchDir, user);
  if (!isPluginReference(dispatch.uses)) return prepareCommand(dispatch, scratchDir, user);
  // Loaded on demand: most agents never run a plugin.
  const { preparePlugin } = await import("./builtins/plugin/plugin-step.ts");
  const copy = ownFolder === undefined ? {} : { copyTo: ownFolder };
  try {
    return await preparePlugin(dispatch, { ...plugins, env, scratchDir, user, gateway, signal, ...copy });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
