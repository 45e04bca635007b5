/** Routes of variables: those of a tenant, and those of a project. */
import {
  deleteVariable,
  getVariable,
  listVariables,
  putVariable,
  variableBody,
  VariableShape,
} from "../../app/catalogue/variables.ts";
import type { AppContext } from "../../app/context.ts";
import { wholeListOf } from "../../app/shapes.ts";
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Variables");

export const VARIABLE_ROUTES = [
  ...routesOf("/tenants/:tenantId", "Tenant", "a tenant", ({ tenantId }) => ({ tenantId: asId<TenantId>(tenantId!) })),
  ...routesOf("/projects/:projectId", "Project", "a project", ({ projectId }) => ({
    projectId: asId<ProjectId>(projectId!),
  })),
];

function routesOf(
  prefix: string,
  word: string,
  whose: string,
  areaOf: (params: Readonly<Record<string, string | undefined>>) => Area,
) {
  const named = (params: Readonly<Record<string, string | undefined>>) => ({
    area: areaOf(params),
    name: params["name"]!,
  });
  /** The value alone can be changed. */
  const tagged = ({ value }: { readonly value: string }) => value;
  return [
    route({
      method: "GET",
      path: `${prefix}/variables`,
      name: `list${word}Variables`,
      about: `Lists the variables of ${whose} in the order of their names.`,
      answer: wholeListOf(VariableShape),
      errors: ["not_found"],
      handle: (context, { caller, params }) => listVariables(context, caller, { area: areaOf(params) }),
    }),
    route({
      method: "GET",
      path: `${prefix}/variables/:name`,
      name: `get${word}Variable`,
      about: `Reads a variable of ${whose}.`,
      answer: VariableShape,
      errors: ["not_found"],
      tagged,
      handle: (context, { caller, params }) => getVariable(context, caller, named(params)),
    }),
    route({
      method: "PUT",
      path: `${prefix}/variables/:name`,
      name: `put${word}Variable`,
      about: `Creates a variable of ${whose}, or gives it another value.`,
      body: variableBody,
      answer: VariableShape,
      errors: ["not_found", "too_large"],
      tagged,
      changes: { tagged },
      handle: (context, { caller, params, body, match }) =>
        putVariable(context, caller, { ...named(params), ...body, match }),
    }),
    route({
      method: "DELETE",
      path: `${prefix}/variables/:name`,
      name: `delete${word}Variable`,
      about: `Deletes a variable of ${whose}.`,
      answer: null,
      errors: ["not_found"],
      changes: { tagged },
      handle: (context, { caller, params, match }) => deleteVariable(context, caller, { ...named(params), match }),
    }),
  ];
}
