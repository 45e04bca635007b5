/** Routes of the schedules of a pipeline. */
import type { AppContext } from "../../app/context.ts";
import { pauseSchedule, resumeSchedule, scheduleCommandBody } from "../../app/schedules/pause-schedule.ts";
import {
  getSchedule,
  listSchedules,
  ScheduleDetailShape,
  ScheduleListShape,
  ScheduleShape,
} from "../../app/schedules/read-schedules.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Schedules");

export const SCHEDULE_ROUTES = [
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/schedules",
    name: "listSchedules",
    about: "Lists the schedules of a pipeline with their next times, in the order of its definition.",
    answer: ScheduleListShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => listSchedules(context, caller, params),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/schedules/:scheduleName",
    name: "getSchedule",
    about: "Reads a schedule, and what became of its last times.",
    answer: ScheduleDetailShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getSchedule(context, caller, params),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/schedules/:scheduleName/pause",
    name: "pauseSchedule",
    about: "Pauses a schedule: its times are skipped until it is resumed.",
    body: scheduleCommandBody,
    answer: ScheduleShape,
    errors: ["not_found", "conflict", "request_id_reused"],
    handle: (context, { caller, params, body }) => pauseSchedule(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/schedules/:scheduleName/resume",
    name: "resumeSchedule",
    about: "Resumes a paused schedule.",
    body: scheduleCommandBody,
    answer: ScheduleShape,
    errors: ["not_found", "conflict", "request_id_reused"],
    handle: (context, { caller, params, body }) => resumeSchedule(context, caller, { ...body, ...params }),
  }),
];
