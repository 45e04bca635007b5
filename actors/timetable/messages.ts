/** The messages of a timetable actor, and who sends each. */
import type { TriggersCommand } from "../../src/domain/commands.ts";
import type { CommandId } from "../../src/domain/ids.ts";

/**
 * From stored commands: of an edge that saves a definition or deletes a pipeline, and of the worker that has read the
 * definition; or from the kernel, when it is time to read the definition again.
 */
export type TimetableMessage = (TriggersCommand & { readonly commandId: CommandId }) | { readonly kind: "timer" };
