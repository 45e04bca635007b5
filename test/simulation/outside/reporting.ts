/** The pipelines whose runs are reported to the host, and the commits that their runs build. */
import { hash } from "node:crypto";
import { DEFAULT_PROJECT, DEFAULT_TENANT } from "../../../src/domain/ids.ts";
import type { Pipeline } from "../../../src/stores/ports/pipelines.ts";
import type { RunOrigin } from "../../../src/stores/ports/aggregates.ts";
import type { SecretVault } from "../../../src/secrets/vault.ts";
import type { World } from "../engine/world.ts";
import { pipelineOf, SHAPES } from "../load/shapes.ts";

const TOKEN = "HOST_TOKEN";
export const PUBLIC_URL = "https://ci.example.com";

/** Makes all pipelines of the load report their runs, or also their jobs. */
export function reportRuns(world: World, commitStatuses: "run" | "jobs"): void {
  const { catalogue } = world.store;
  world.hasOutside = true;
  addProject(world);
  for (const shape of SHAPES) {
    const pipeline: Pipeline = {
      ...pipelineOf(shape),
      repoUrl: `https://code.example.com/simulated/${shape.name}.git`,
      repoProvider: "gitea",
      repoApiCredential: TOKEN,
      commitStatuses,
    };
    catalogue.pipelines.set(pipeline.pipelineId, pipeline);
  }
}

export function addProject({ store }: World): void {
  const project = { projectId: DEFAULT_PROJECT, tenantId: DEFAULT_TENANT, name: "default", createdAt: 0 };
  store.catalogue.projects.set(DEFAULT_PROJECT, project);
}

/** The pipeline as the catalogue has it, for a load whose runs are reported. */
export function reportedPipeline({ store }: World, pipeline: Pipeline): Pipeline {
  return store.catalogue.pipelines.get(pipeline.pipelineId) ?? pipeline;
}

/** All runs of a reported pipeline build one commit, so that the status of a later one replaces that of an earlier one. */
export function reportedOrigin(origin: RunOrigin, { name, repoUrl }: Pipeline): RunOrigin {
  return repoUrl === "" ? origin : { ...origin, commitSha: hash("sha1", name, "hex") };
}

/** The only secret is the token for the API of the host. */
export const HOST_SECRETS = {
  read: (_: unknown, names: readonly string[]) => Promise.resolve(new Map(names.map((name) => [name, "a-token"]))),
} as Pick<SecretVault, "read"> as SecretVault;
