/** Whether an agent may have the secrets of a step: asked again for each step, since a label may be taken away meanwhile. */
import type { AppContext, WithStores } from "../app/context.ts";
import { projectFactsOf } from "../app/project-facts.ts";
import type { AgentId, ProjectId } from "../domain/ids.ts";
import { demandTrust, failingClause, labelledAgent, isReached } from "../domain/labels.ts";
import { JOB_API_WORDS, type JobPermissions, type PlannedJob, type StepSpec } from "../domain/plan.ts";

export class SecretHandout {
  readonly #context: Pick<AppContext, "clock"> & WithStores<"identity" | "pipelines" | "rights" | "documents">;

  constructor(context: Pick<AppContext, "clock"> & WithStores<"identity" | "pipelines" | "rights" | "documents">) {
    this.#context = context;
  }

  /**
   * The permissions of a job as far as the project, its tenant and the installation allow them. A job that may ask for
   * identity tokens reads its project unless its definition says more, or `none`.
   */
  async allowed(projectId: ProjectId, asked: JobPermissions): Promise<JobPermissions> {
    const { jobs } = await projectFactsOf(this.#context, projectId);
    const most = JOB_API_WORDS.findIndex((word) => word === jobs.api);
    const word = asked.api ?? (asked.idToken ? "read" : "none");
    const api = word === "none" ? -1 : Math.min(JOB_API_WORDS.indexOf(word), most);
    return { ...asked, idToken: asked.idToken && jobs.idToken, api: JOB_API_WORDS[api] ?? null };
  }

  /**
   * Why the agent does not get the secrets of the step, as text for people; undefined when it does, and for a step
   * without secrets. Rejects when the store cannot be read.
   */
  async refusal(
    agentId: AgentId,
    projectId: ProjectId,
    { selector }: Pick<PlannedJob, "selector">,
    { secrets }: Pick<StepSpec, "secrets">,
  ): Promise<string | undefined> {
    if (secrets.length === 0) return undefined;
    const { trustDemand, tenantId } = await projectFactsOf(this.#context, projectId);
    const isDemanded = selector.trusted === true || trustDemand.secrets;
    const agent = await this.#context.stores.identity.findAgent(agentId);
    if (!isReached(agent?.reach, { projectId, tenantId })) {
      return `agent ${agentId} gets no secrets of this job: it is bound to other projects`;
    }
    if (!isDemanded) return undefined;
    const clause = agent === undefined ? "it is gone" : failingClause(demandTrust(selector), labelledAgent(agent));
    if (clause === undefined) return undefined;
    return `agent ${agentId} gets no secrets of this job, which asks for trusted labels: it fails ${clause}`;
  }
}
