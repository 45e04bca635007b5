/** Routes whose answers go on: each live channel as an event stream, and the log of a step. */
import { z } from "zod";
import { LIVE_CHANNELS } from "../../app/following/channels.ts";
import type { LiveChannel } from "../../app/following/live-channel.ts";
import { parseQuery } from "../request/parse.ts";
import { routesFor } from "../route.ts";
import { EVENT_STREAM, resumeAt } from "./event-streams.ts";
import type { LiveEdge } from "./live-edge.ts";
import { LOG_STREAM_ROUTES } from "./log-stream-routes.ts";

const route = routesFor<LiveEdge>("Live");
/** Instead of a token, for a page that cannot set a header. */
const ticket = z.string().max(200).optional();

const CHANNEL_ROUTES = LIVE_CHANNELS.map((channel) => {
  const shape = channel.params.extend({ ticket });
  return route({
    method: "GET",
    path: `/live/${channel.name}`,
    name: operationOf(channel),
    about: channel.about,
    query: shape,
    acceptsTicket: true,
    answer: null,
    answerType: EVENT_STREAM,
    statuses: [200, 204],
    errors: ["not_found"],
    async send({ followers, streams }, { caller, query, ctx }) {
      const after = resumeAt(ctx);
      if (after !== undefined) ctx.query = { ...ctx.query, after };
      const params = after === undefined ? query : parseQuery(ctx, shape);
      await streams.answer(ctx, caller, (abort) => channel.follow(followers, caller, { params, abort }));
    },
  });
});

export const LIVE_ROUTES = [...CHANNEL_ROUTES, ...LOG_STREAM_ROUTES];

/** `followRun` of the channel `run`. */
function operationOf({ name }: LiveChannel): string {
  return `follow${name[0]!.toUpperCase()}${name.slice(1)}`;
}
