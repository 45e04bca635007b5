/** The log limits of projects, as the gateway tells them to agents and holds agents to them. */
import type { ProjectId } from "../domain/ids.ts";
import type { LogLimit } from "../domain/retention.ts";
import { effectiveLogLimit, readLayers } from "../app/effective-settings.ts";
import { tenantOf } from "../stores/ports/pipelines.ts";
import type { AppContext, WithStores } from "../app/context.ts";

/** How long a limit is remembered. Each step that begins asks for it. */
const REMEMBERED_MS = 5_000;
/** Projects whose limits are remembered, at most. */
const MAX_REMEMBERED = 1_000;

type LimitsContext = Pick<AppContext, "clock" | "logLimit" | "givenVariables"> & WithStores<"pipelines" | "documents">;

export class LogLimits {
  readonly #context: LimitsContext;
  readonly #known = new Map<ProjectId, { readonly readAt: number; readonly limit: LogLimit }>();

  constructor(context: LimitsContext) {
    this.#context = context;
  }

  /** The limit of a project, at most 5 s old. Rejects when the store cannot be read. */
  async of(projectId: ProjectId): Promise<LogLimit> {
    const { clock, logLimit, givenVariables: given = [], stores } = this.#context;
    const known = this.#known.get(projectId);
    if (known !== undefined && clock.monotonic() - known.readAt < REMEMBERED_MS) return known.limit;
    const project = await stores.pipelines.findProject(projectId);
    const layers = await readLayers(
      this.#context,
      project === undefined ? {} : { project, tenantId: tenantOf(project) },
    );
    const limit = effectiveLogLimit(layers, { logLimit, given });
    this.#known.delete(projectId);
    this.#known.set(projectId, { readAt: clock.monotonic(), limit });
    if (this.#known.size > MAX_REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    return limit;
  }
}
