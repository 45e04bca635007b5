/** The statuses that the page shows, and how they look. Pure. */
import { words } from "../words.ts";

export type StatusWord = keyof typeof words.status;

/** The colour of a status, by the name of its token. */
export type Tone = "success" | "failed" | "running" | "waiting" | "paused" | "partial" | "cancelled";

const TONES: Readonly<Record<StatusWord, Tone>> = {
  pending: "waiting",
  queued: "waiting",
  waiting: "waiting",
  running: "running",
  success: "success",
  approved: "success",
  failed: "failed",
  rejected: "failed",
  timeout: "failed",
  expired: "cancelled",
  cancelled: "cancelled",
  skipped: "cancelled",
  paused: "paused",
  partial: "partial",
};

export function toneOf(status: StatusWord): Tone {
  return TONES[status];
}

/** True for a run, job or step that nothing can change any more. */
export function hasEnded(status: StatusWord): boolean {
  return !["pending", "queued", "waiting", "running", "paused"].includes(status);
}
