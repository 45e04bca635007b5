import { api, type Schemas } from "../api/client.ts";
import { isReason } from "../api/errors.ts";

/** The saved definition; null before the first save. */
export type Head = Schemas["Spec"] | null;

export async function loadHead(pipelineId: string, signal: AbortSignal): Promise<{ readonly head: Head }> {
  try {
    return { head: await api.get("/pipelines/{pipelineId}/spec", { path: { pipelineId }, signal }) };
  } catch (error) {
    // A pipeline without a definition has none to show; a pipeline that is gone is told by its own call.
    if (isReason(error, "not_found")) return { head: null };
    throw error;
  }
}
