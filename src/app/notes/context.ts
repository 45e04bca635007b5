/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What notes are read from. */
export type NotesContext = Pick<AppContext, "clock"> &
  WithStores<"aggregates" | "plans" | "notes" | "pipelines" | "rights" | "documents">;
