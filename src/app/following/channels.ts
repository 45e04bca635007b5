/** Every live channel besides those of a step. Each is served over WebSocket and as an event stream over HTTP. */
import { AGENTS_CHANNEL } from "./agents-channel.ts";
import { APPROVALS_CHANNEL } from "./approvals-channel.ts";
import type { LiveChannel } from "./live-channel.ts";
import { RUN_CHANNEL } from "./run-channel.ts";
import { RUNS_CHANNEL } from "./runs-channel.ts";
import { SYSTEM_CHANNEL } from "./system-channel.ts";

export const LIVE_CHANNELS: readonly LiveChannel[] = [
  RUN_CHANNEL,
  RUNS_CHANNEL,
  APPROVALS_CHANNEL,
  AGENTS_CHANNEL,
  SYSTEM_CHANNEL,
];
