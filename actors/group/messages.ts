/** What a group actor is told, and by whom. */
import type { EnterCommand, LeaveCommand } from "../../src/domain/commands.ts";
import type { CommandId } from "../../src/domain/ids.ts";

/** From stored commands: of runs and jobs, of the trigger that reserves a place, and of the census for those that are gone. */
export type GroupMessage = (EnterCommand | LeaveCommand) & { readonly commandId: CommandId };
