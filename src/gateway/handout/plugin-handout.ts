/**
 * Downloads of plugin packages: an agent gets the packages of the steps that it holds. The plan of the run says whose each
 * plugin is, so no agent can name a plugin of another project.
 */
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import { splitReference } from "../../domain/plugins.ts";
import type { HandoutContext } from "./context.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";

/**
 * The package of the step's plugin from `offset` on, in pieces. Throws `conflict` when the agent does not hold the
 * step, or the step uses no plugin of the registry; `not_found` when the plugin was deleted after the run was planned;
 * and `range_not_satisfiable` for an offset beyond the end of the package.
 */
export async function* readPluginPackage(
  { stores }: HandoutContext,
  agentId: AgentId,
  { offset, ...grant }: StepGrant & { readonly offset: number },
): AsyncGenerator<Uint8Array, void, void> {
  const { runId, step } = await requireHeldStep({ stores }, agentId, grant);
  const { uses = "", plugin = null } = (await stores.plans.loadJob(runId, step.jobIndex))?.steps[step.index] ?? {};
  if (plugin === null) {
    throw new MillraceError("conflict", `step run ${grant.stepRunId} uses no plugin of the registry`);
  }
  const { name, version } = splitReference(uses);
  const { owner = "installation" } = plugin;
  const record = await stores.plugins.find({ owner, name, version });
  if (record?.state !== "stored" || record.sha256 !== plugin.sha256) throw gone(uses);
  if (offset > record.sizeBytes) {
    throw new MillraceError(
      "range_not_satisfiable",
      `the package of ${uses} has ${record.sizeBytes} bytes, not ${offset}`,
    );
  }
  for (let at = offset; at < record.sizeBytes;) {
    // Up to the next stored piece.
    const piece = await stores.blobs.read(record.packageId, at, PIECE_BYTES - (at % PIECE_BYTES));
    if (piece.length === 0) throw gone(uses);
    yield piece;
    at += piece.length;
  }
}

function gone(uses: string): MillraceError {
  return new MillraceError("not_found", `${uses} was deleted from the registry after this run was planned`);
}
