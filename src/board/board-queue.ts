/** How many offers wait on each lane of the board, for metrics. It changes nothing. */
import type { Lane } from "./board.ts";
import { LANE_KEYS } from "./redis-board.ts";
import type { BoardRedis } from "../redis/redis-script.ts";

export interface WaitingLane {
  readonly lane: Lane;
  /** Offers that no gateway has taken. */
  readonly offers: number;
}

/**
 *   KEYS[1] lanes    hash  lane id -> the lane's JSON
 *   KEYS[2] prefix   of the lanes' own keys
 *
 * Returns the JSON of each lane with offers, and after it the number of its offers.
 */
const READ = `
local found = {}
local lanes = redis.call("HGETALL", KEYS[1])
for at = 1, #lanes, 2 do
  local offers = redis.call("ZCARD", KEYS[2] .. lanes[at])
  if offers > 0 then
    found[#found + 1] = lanes[at + 1]
    found[#found + 1] = offers
  end
end
return found
`;

/** The lanes on which offers wait. */
export async function readLanes(redis: Pick<BoardRedis, "eval">): Promise<readonly WaitingLane[]> {
  const found = (await redis.eval(READ, LANE_KEYS.length, ...LANE_KEYS)) as readonly (string | number)[];
  return Array.from({ length: found.length / 2 }, (_, at) => {
    return { lane: JSON.parse(found[2 * at] as string) as Lane, offers: Number(found[2 * at + 1]) };
  });
}
