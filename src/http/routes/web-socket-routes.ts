/** The address of the WebSocket endpoint, as a caller finds it who sends no upgrade request. */
import type { AppContext } from "../../app/context.ts";
import { MillraceError } from "../../domain/errors.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Live");

export const WEB_SOCKET_ROUTES = [
  route({
    method: "GET",
    path: "/ws",
    name: "openWebSocket",
    about: "Upgrades the connection to WebSocket.",
    answer: null,
    statuses: [101],
    handle() {
      throw new MillraceError("malformed_request", "this address speaks WebSocket: send an upgrade request");
    },
  }),
];
