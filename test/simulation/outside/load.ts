/** What one seed has of the outside world: pushes that start runs, and a host that is told of runs. */
import type { Draws } from "../engine/draws.ts";
import type { World } from "../engine/world.ts";
import type { Clients } from "../load/clients.ts";
import { listenToPushes, type Push, Sender } from "./pushes.ts";
import { reportRuns } from "./reporting.ts";

const MAX_PUSHES = 4;

export interface OutsideLoad {
  readonly pushes: number;
}

/** Stores what the parts of the outside world find in the store. Called before any process starts. */
export function prepareOutside(world: World, draws: Draws): OutsideLoad {
  if (draws.chance(0.25)) reportRuns(world, draws.pick(["run", "jobs"]));
  const pushes = draws.chance(0.25) ? draws.between(1, MAX_PUSHES) : 0;
  if (pushes > 0) listenToPushes(world);
  return { pushes };
}

/** Sends the pushes within a time. */
export function beginOutsideLoad(
  world: World,
  draws: Draws,
  clients: Clients,
  { pushes }: OutsideLoad,
  forMs: number,
): readonly Push[] {
  const sender = new Sender(world, draws, clients);
  sender.begin(pushes, forMs);
  return sender.pushes;
}
