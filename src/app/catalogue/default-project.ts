import { asId, type ProjectId } from "../../domain/ids.ts";

/** The project of pipelines that name none. It exists from the first start on. */
export const DEFAULT_PROJECT: ProjectId = asId<ProjectId>("default");
