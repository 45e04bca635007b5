/** The images of earlier runs, by which the warning about a tag that moves tells what the tag has named. */
import type { CheckedDefinition } from "../../definition-work/definition-work.ts";
import type { DefinitionText } from "../../definition-work/tasks.ts";
import type { PipelineId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";
import { type Asking, checkNaming, checkWithPlugins } from "./plugin-lookup.ts";

/** How many of the newest runs are looked at. The newest one may wait for an agent, or have failed before it had an image. */
const RUNS = 5;

type CheckContext = Parameters<typeof checkWithPlugins>[0] & WithStores<"aggregates" | "runImages">;

/**
 * Checks a text for a pipeline as {@link checkWithPlugins} does; the warnings about tags that move tell the digests of the last
 * run. The runs are read only for a definition with such a tag.
 */
export async function checkForPipeline(
  context: CheckContext,
  asking: Asking,
  { pipelineId, projectId }: Pick<Pipeline, "pipelineId" | "projectId">,
  { text, format, includes }: DefinitionText,
): Promise<CheckedDefinition> {
  const definition = { text, format, includes };
  const checked = await checkWithPlugins(context, asking, projectId, definition);
  if (!checked.diagnostics.some(({ code }) => code === "moving-image")) return checked;
  const digests = await earlierDigests(context, pipelineId);
  if (digests.length === 0) return checked;
  return checkNaming(context, asking, projectId, { ...definition, ...checked, digests });
}

/** By the references of images, as definitions write them: the digest of the newest run that has one. */
async function earlierDigests({ stores }: CheckContext, pipelineId: PipelineId): Promise<Pairs<string>> {
  const runs = (await stores.aggregates.newestRuns([pipelineId], RUNS)).get(pipelineId) ?? [];
  const images = await Promise.all(runs.map(({ rootId }) => stores.runImages.of(rootId)));
  return [...new Map(images.toReversed().flatMap((all) => all.map(({ image, digest }) => [image, digest] as const)))];
}
