/** Routes of projects. Routes of what a project owns are with the thing that is owned. */
import { wholeListQuery } from "../../app/lists.ts";
import {
  changeProject,
  changeProjectBody,
  createProject,
  createProjectBody,
  getProject,
  listProjects,
} from "../../app/catalogue/projects.ts";
import type { AppContext } from "../../app/context.ts";
import { deleteProject } from "../../app/deletion/project-deletion.ts";
import { ProjectShape } from "../../app/project-record.ts";
import { wholeOrPageOf } from "../../app/shapes.ts";
import { forceQuery } from "../request/force-query.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Projects");
/** All of a project can be changed. */
const tagged = (project: unknown) => project;

export const PROJECT_ROUTES = [
  route({
    method: "POST",
    path: "/projects",
    name: "createProject",
    about: "Creates a project.",
    body: createProjectBody,
    answer: ProjectShape,
    errors: ["already_exists", "conflict", "request_id_reused"],
    creates: true,
    handle: (context, { caller, body, requestId }) => createProject(context, caller, { ...body, requestId }),
  }),
  route({
    method: "GET",
    path: "/projects",
    name: "listProjects",
    about: "Lists all projects, archived ones too.",
    query: wholeListQuery,
    answer: wholeOrPageOf(ProjectShape),
    handle: (context, { caller, query }) => listProjects(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId",
    name: "getProject",
    about: "Reads a project.",
    answer: ProjectShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getProject(context, caller, params),
  }),
  route({
    method: "PATCH",
    path: "/projects/:projectId",
    name: "changeProject",
    about: "Changes the fields of a project that are given, or archives it.",
    body: changeProjectBody,
    answer: ProjectShape,
    errors: ["not_found", "already_exists", "conflict"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, params, body, match }) => changeProject(context, caller, { ...params, body, match }),
  }),
  route({
    method: "DELETE",
    path: "/projects/:projectId",
    name: "deleteProject",
    about: "Deletes a project with everything in it; with `force` also one with live runs, which are stopped.",
    query: forceQuery,
    answer: null,
    errors: ["not_found", "conflict"],
    changes: { tagged },
    handle: (context, { caller, params, query, match }) =>
      deleteProject(context, caller, { ...params, ...query, match }),
  }),
];
