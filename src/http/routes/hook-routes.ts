/** Routes of inbound hooks and their deliveries, for those who look after them. */
import {
  getHookDelivery,
  hookDeliveriesQuery,
  HookDeliveryPageShape,
  HookDeliveryShape,
  listHookDeliveries,
  processHookDeliveryAgain,
} from "../../app/hooks/deliveries.ts";
import {
  changeHook,
  changeHookBody,
  createHook,
  createHookBody,
  deleteHook,
  getHook,
  HookShape,
  type HookView,
  listHooks,
} from "../../app/hooks/hooks.ts";
import type { AppContext } from "../../app/context.ts";
import { wholeListOf } from "../../app/shapes.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Hooks");

const HOOKS = "/projects/:projectId/hooks";

const tagged = ({ name, proof, secret, enabled, perMinute, updatedAt }: HookView) => ({
  name,
  proof,
  secret,
  enabled,
  perMinute,
  updatedAt,
});
const changes = { tagged };

export const HOOK_ROUTES = [
  route({
    method: "POST",
    path: HOOKS,
    name: "createHook",
    about: "Creates a hook of a project, which takes deliveries of one kind of sender.",
    body: createHookBody,
    creates: true,
    answer: HookShape,
    errors: ["not_found", "conflict", "already_exists", "request_id_reused"],
    handle: (context, { caller, params, body, requestId }) =>
      createHook(context, caller, { ...params, requestId, ...body }),
  }),
  route({
    method: "GET",
    path: HOOKS,
    name: "listHooks",
    about: "Lists the hooks of a project in the order of their creation.",
    answer: wholeListOf(HookShape),
    errors: ["not_found"],
    handle: (context, { caller, params }) => listHooks(context, caller, params),
  }),
  route({
    method: "GET",
    path: `${HOOKS}/:hookId`,
    name: "getHook",
    about: "Reads a hook.",
    answer: HookShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getHook(context, caller, params),
  }),
  route({
    method: "PATCH",
    path: `${HOOKS}/:hookId`,
    name: "changeHook",
    about: "Changes a hook, disables it, or enables it again.",
    body: changeHookBody,
    answer: HookShape,
    errors: ["not_found", "already_exists"],
    tagged,
    changes,
    handle: (context, { caller, params, body, match }) => changeHook(context, caller, { ...params, ...body, match }),
  }),
  route({
    method: "DELETE",
    path: `${HOOKS}/:hookId`,
    name: "deleteHook",
    about: "Deletes a hook with its deliveries; runs that these have started stay.",
    answer: null,
    errors: ["not_found"],
    changes,
    handle: (context, { caller, params, match }) => deleteHook(context, caller, { ...params, match }),
  }),
  route({
    method: "GET",
    path: `${HOOKS}/:hookId/deliveries`,
    name: "listHookDeliveries",
    about: "Lists what a hook has received, the newest first.",
    query: hookDeliveriesQuery,
    answer: HookDeliveryPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listHookDeliveries(context, caller, { ...params, ...query }),
  }),
  route({
    method: "GET",
    path: `${HOOKS}/:hookId/deliveries/:deliveryId`,
    name: "getHookDelivery",
    about: "Reads a delivery of a hook, with the verdict of each trigger.",
    answer: HookDeliveryShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getHookDelivery(context, caller, params),
  }),
  route({
    method: "POST",
    path: `${HOOKS}/:hookId/deliveries/:deliveryId/redeliver`,
    name: "redeliverHookDelivery",
    about: "Processes an ended delivery once more; runs that it has started stay.",
    answer: HookDeliveryShape,
    errors: ["not_found", "conflict"],
    handle: (context, { caller, params }) => processHookDeliveryAgain(context, caller, params),
  }),
];
