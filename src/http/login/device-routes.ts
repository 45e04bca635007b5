/**
 * The routes of the device flow. Programs read the answers of RFC 8628, so these answers have no envelope; only an error
 * that the standard does not know has it. The bodies are forms, as the standard says, or JSON.
 */
import { z } from "zod";
import {
  DeviceCodeShape,
  type DevicePaces,
  type DeviceRefusal,
  DeviceRefusalShape,
  DeviceTokensShape,
  requestDeviceCode,
  takeDeviceTokens,
} from "../../app/identity/device-logins.ts";
import type { PublicUrl } from "../../app/identity/request-proof.ts";
import type { AppContext } from "../../app/context.ts";
import type { AddressOf } from "../request/caller-address.ts";
import { readJsonBody } from "../request/json-body.ts";
import type { ApiContext } from "../request/state.ts";
import { routesFor } from "../route.ts";
import { readForm } from "./form-body.ts";
import { recordingLogin } from "./login-trail.ts";

const FORM = "application/x-www-form-urlencoded";
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

const MEANINGS: Readonly<Record<DeviceRefusal, string>> = {
  authorization_pending: "the user has not decided yet: ask again after the interval",
  slow_down: "the device asks too often: wait 5 s longer between two questions",
  access_denied: "the user has refused the login",
  expired_token: "the code has expired: ask for a new one",
  invalid_grant: "the device code is unknown or was used: ask for a new one",
  invalid_request: "the body needs the texts `grant_type` and `device_code`",
  unsupported_grant_type: `the only grant type here is ${GRANT_TYPE}`,
};

/** What both routes take. A program may send more, for example a scope, which has no meaning here. */
const deviceBody = z.object({
  client_id: z.string().max(200).default(""),
  grant_type: z.string().max(200).default(""),
  device_code: z.string().max(200).default(""),
});

export interface DeviceEdge {
  readonly context: AppContext;
  readonly clock: AppContext["clock"];
  readonly addressOf: AddressOf;
  readonly publicUrl: PublicUrl;
  readonly paces: DevicePaces;
}

const route = routesFor<DeviceEdge>("Logins");
const STANDARD = { answer: null, answerType: "application/json", bodyType: FORM, isOpen: true } as const;

export const DEVICE_ROUTES = [
  route({
    ...STANDARD,
    method: "POST",
    path: "/auth/device/code",
    name: "requestDeviceCode",
    about: "Begins the login of a program without a browser (RFC 8628).",
    statuses: [200, 400],
    plainAnswers: { 200: DeviceCodeShape, 400: DeviceRefusalShape },
    errors: ["too_many"],
    async send({ context, clock, addressOf, publicUrl, paces }, { ctx }) {
      const address = addressOf(ctx.req);
      paces.takeCode(address, clock.monotonic());
      const body = await readBody(ctx);
      if (body === undefined) {
        refuse(ctx, "invalid_request");
        return;
      }
      const place = { address, userAgent: ctx.get("user-agent"), client: body.client_id };
      ctx.body = await requestDeviceCode(context, place, publicUrl());
    },
  }),
  route({
    ...STANDARD,
    method: "POST",
    path: "/auth/device/token",
    name: "takeDeviceToken",
    about: "Asks for the tokens of a program whose user has agreed (RFC 8628).",
    statuses: [200, 400],
    plainAnswers: { 200: DeviceTokensShape, 400: DeviceRefusalShape },
    async send(edge, { ctx }) {
      const { context, paces } = edge;
      const body = await readBody(ctx);
      if (body === undefined || body.grant_type === "" || body.device_code === "") {
        refuse(ctx, "invalid_request");
      } else if (body.grant_type !== GRANT_TYPE) {
        refuse(ctx, "unsupported_grant_type");
      } else {
        const answer = await recordingLogin(edge, ctx, "deviceLogin", (trail) =>
          takeDeviceTokens(context, body.device_code, paces, trail),
        );
        if ("refused" in answer) refuse(ctx, answer.refused);
        else ctx.body = answer;
      }
    },
  }),
];

async function readBody(ctx: ApiContext): Promise<z.output<typeof deviceBody> | undefined> {
  const isForm = ctx.is(FORM) !== false;
  if (!isForm) return deviceBody.safeParse((await readJsonBody(ctx)) ?? {}).data;
  const field = await readForm(ctx);
  const sent = { client_id: field("client_id"), grant_type: field("grant_type"), device_code: field("device_code") };
  return deviceBody.safeParse(sent).data;
}

function refuse(ctx: ApiContext, error: DeviceRefusal): void {
  ctx.status = 400;
  ctx.body = { error, error_description: MEANINGS[error] };
}
