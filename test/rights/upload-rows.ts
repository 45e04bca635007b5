/** The rows of the routes of uploads, which belong to {@link HTTP_ROWS}. */
import type { HttpRow } from "./http-row.ts";
import type { World } from "./world.ts";

const onProject = ({ projectId }: World) => ({ projectId });
const onUpload = ({ projectId, uploadId }: World) => ({ projectId, uploadId });
const nothing = () => ({});
const keep = (world: World) => world.keepUpload();

export const UPLOAD_ROWS: readonly HttpRow[] = [
  { route: "GET /projects/:projectId/uploads", operation: "readUploads", at: onProject },
  {
    route: "POST /projects/:projectId/uploads",
    operation: "writeUploads",
    at: onProject,
    body: () => ({ name: "a.txt", size: 1 }),
  },
  { route: "POST /projects/:projectId/uploads/form", operation: "writeUploads", at: onProject, body: nothing },
  { route: "GET /projects/:projectId/uploads/:uploadId", operation: "readUploads", at: onUpload, prepare: keep },
  {
    route: "PATCH /projects/:projectId/uploads/:uploadId/content",
    operation: "writeUploads",
    at: onUpload,
    prepare: keep,
    body: nothing,
  },
  {
    route: "GET /projects/:projectId/uploads/:uploadId/content",
    operation: "readUploads",
    at: onUpload,
    prepare: keep,
  },
  {
    route: "DELETE /projects/:projectId/uploads/:uploadId",
    operation: "deleteUploads",
    at: onUpload,
    prepare: keep,
  },
];
