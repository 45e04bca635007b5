/** The application context, narrowed to what this folder uses. */
import type { TriggeringContext } from "../triggering/context.ts";

export type SchedulesContext = TriggeringContext;
