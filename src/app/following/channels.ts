/** Every live channel besides those of a step. Each is served over WebSocket and as an event stream over HTTP. */
import type { LiveChannel } from "./live-channel.ts";
import { RUN_CHANNEL } from "./run-channel.ts";

export const LIVE_CHANNELS: readonly LiveChannel[] = [RUN_CHANNEL];
