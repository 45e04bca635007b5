/** The route of the logs of system events. */
import { listSystemEvents, SystemEventPageShape, systemEventsQuery } from "../../app/system-events/system-log.ts";
import type { AppContext } from "../../app/context.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("System events");

export const SYSTEM_EVENT_ROUTES = [
  route({
    method: "GET",
    path: "/system-events",
    name: "listSystemEvents",
    about: "Lists the system events of a tenant or of the installation behind a number, in their order.",
    query: systemEventsQuery,
    answer: SystemEventPageShape,
    errors: ["not_found"],
    handle: (context, { caller, query }) => listSystemEvents(context, caller, query),
  }),
];
