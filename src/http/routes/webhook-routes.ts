/** Routes of webhooks and their deliveries: those of a tenant, and those of a project. */
import {
  deliveriesQuery,
  DeliveryPageShape,
  DeliveryShape,
  getDelivery,
  listDeliveries,
  redeliver,
} from "../../app/webhooks/deliveries.ts";
import {
  changeWebhookBody,
  changeWebhookOf,
  createWebhook,
  createWebhookBody,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  WebhookShape,
  type WebhookView,
  WebhookWithSecretShape,
} from "../../app/webhooks/webhooks.ts";
import type { AppContext } from "../../app/context.ts";
import { wholeListOf } from "../../app/shapes.ts";
import { asId, type DeliveryId, type ProjectId, type TenantId, type WebhookId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Webhooks");

type PathParams = Readonly<Record<string, string | undefined>>;

export const WEBHOOK_ROUTES = [
  ...routesOf("/tenants/:tenantId", "Tenant", "a tenant", ({ tenantId }) => ({ tenantId: asId<TenantId>(tenantId!) })),
  ...routesOf("/projects/:projectId", "Project", "a project", ({ projectId }) => ({
    projectId: asId<ProjectId>(projectId!),
  })),
];

function routesOf(prefix: string, word: string, whose: string, areaOf: (params: PathParams) => Area) {
  const path = `${prefix}/webhooks`;
  const one = (params: PathParams) => ({ area: areaOf(params), webhookId: asId<WebhookId>(params["webhookId"]!) });
  const delivery = (params: PathParams) => ({ ...one(params), deliveryId: asId<DeliveryId>(params["deliveryId"]!) });
  const tagged = ({ description, address, types, ordered, enabled, updatedAt }: Omit<WebhookView, "webhookId">) => ({
    description,
    address,
    types,
    ordered,
    enabled,
    updatedAt,
  });
  const changes = {
    read: (context: AppContext, { caller, params }: { caller: Parameters<typeof getWebhook>[1]; params: object }) =>
      getWebhook(context, caller, one(params as PathParams)),
    tagged,
  };
  return [
    route({
      method: "POST",
      path,
      name: `create${word}Webhook`,
      about: `Creates a webhook of ${whose}. Only this answer holds its secret.`,
      body: createWebhookBody,
      creates: true,
      answer: WebhookWithSecretShape,
      errors: ["not_found", "conflict", "request_id_reused"],
      handle: (context, { caller, params, body, requestId }) =>
        createWebhook(context, caller, { area: areaOf(params), requestId, ...body }),
    }),
    route({
      method: "GET",
      path,
      name: `list${word}Webhooks`,
      about: `Lists the webhooks of ${whose} in the order of their creation.`,
      answer: wholeListOf(WebhookShape),
      errors: ["not_found"],
      handle: (context, { caller, params }) => listWebhooks(context, caller, { area: areaOf(params) }),
    }),
    route({
      method: "GET",
      path: `${path}/:webhookId`,
      name: `get${word}Webhook`,
      about: `Reads a webhook of ${whose}.`,
      answer: WebhookShape,
      errors: ["not_found"],
      tagged,
      handle: (context, { caller, params }) => getWebhook(context, caller, one(params)),
    }),
    route({
      method: "PATCH",
      path: `${path}/:webhookId`,
      name: `change${word}Webhook`,
      about: `Changes a webhook of ${whose}, disables it, or enables it again.`,
      body: changeWebhookBody,
      answer: WebhookShape,
      errors: ["not_found"],
      tagged,
      changes,
      handle: (context, { caller, params, body }) => changeWebhookOf(context, caller, { ...one(params), ...body }),
    }),
    route({
      method: "DELETE",
      path: `${path}/:webhookId`,
      name: `delete${word}Webhook`,
      about: `Deletes a webhook of ${whose}; what is owed to it is not sent any more.`,
      answer: null,
      errors: ["not_found"],
      changes,
      handle: (context, { caller, params }) => deleteWebhook(context, caller, one(params)),
    }),
    route({
      method: "POST",
      path: `${path}/:webhookId/rotate-secret`,
      name: `rotate${word}WebhookSecret`,
      about: `Gives a webhook of ${whose} a new secret. For a day, requests carry the signature of the earlier one too.`,
      answer: WebhookWithSecretShape,
      errors: ["not_found"],
      changes,
      handle: (context, { caller, params }) => rotateWebhookSecret(context, caller, one(params)),
    }),
    route({
      method: "GET",
      path: `${path}/:webhookId/deliveries`,
      name: `list${word}WebhookDeliveries`,
      about: `Lists the deliveries of a webhook of ${whose}, the newest first.`,
      query: deliveriesQuery,
      answer: DeliveryPageShape,
      errors: ["not_found"],
      handle: (context, { caller, params, query }) => listDeliveries(context, caller, { ...one(params), ...query }),
    }),
    route({
      method: "GET",
      path: `${path}/:webhookId/deliveries/:deliveryId`,
      name: `get${word}WebhookDelivery`,
      about: `Reads a delivery of a webhook of ${whose}, with its latest requests and their answers.`,
      answer: DeliveryShape,
      errors: ["not_found"],
      handle: (context, { caller, params }) => getDelivery(context, caller, delivery(params)),
    }),
    route({
      method: "POST",
      path: `${path}/:webhookId/deliveries/:deliveryId/redeliver`,
      name: `redeliver${word}WebhookDelivery`,
      about: `Sends an ended delivery of a webhook of ${whose} once more, with the same id.`,
      answer: DeliveryShape,
      errors: ["not_found", "conflict"],
      handle: (context, { caller, params }) => redeliver(context, caller, delivery(params)),
    }),
  ];
}
