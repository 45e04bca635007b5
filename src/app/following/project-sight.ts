/** Which projects a client of a state feed sees. */
import type { ProjectId, TenantId } from "../../domain/ids.ts";
import { authoriseLookUp, type Caller, mayEverywhere } from "../identity/access.ts";
import { projectFactsOf } from "../project-facts.ts";
import { actingIn, type RightsContext } from "../reaching.ts";

export interface ProjectFilter {
  readonly tenantId?: TenantId | undefined;
  readonly projectId?: ProjectId | undefined;
}

/**
 * Answers whether the caller may read what belongs to a project, and asks for it. Throws `forbidden` for a caller who
 * may read it nowhere.
 */
export function projectSight(
  context: RightsContext,
  caller: Caller,
  operation: "readRuns" | "readApprovals",
  { tenantId, projectId: wanted }: ProjectFilter,
): (projectId: ProjectId) => Promise<boolean> {
  const user = authoriseLookUp(caller, operation);
  const seesAll = mayEverywhere(user, operation);
  const known = new Map<ProjectId, Promise<boolean>>();
  const maySee = (projectId: ProjectId): Promise<boolean> => {
    if (seesAll) return Promise.resolve(true);
    let answer = known.get(projectId);
    if (answer === undefined) {
      answer = actingIn(context, user, projectId).then((acting) => acting !== undefined);
      known.set(projectId, answer);
    }
    return answer;
  };
  return async (projectId) => {
    if (wanted !== undefined && projectId !== wanted) return false;
    if (!(await maySee(projectId))) return false;
    return tenantId === undefined || (await projectFactsOf(context, projectId)).tenantId === tenantId;
  };
}
