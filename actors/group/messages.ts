/** The messages of a group actor, and who sends each. */
import type { EnterCommand, LeaveCommand } from "../../src/domain/commands.ts";
import type { CommandId } from "../../src/domain/ids.ts";

/**
 * From stored commands: of runs and jobs, of the trigger that reserves a place, and of the group reconciler on behalf
 * of members that no longer exist.
 */
export type GroupMessage = (EnterCommand | LeaveCommand) & { readonly commandId: CommandId };
