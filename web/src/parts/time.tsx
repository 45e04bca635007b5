/** Times and durations that go on while they are shown. One clock serves the page. */
import { signal } from "@preact/signals";
import { durationText, relativeText } from "./time-texts.ts";

/** Now, each second. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);
document.addEventListener("visibilitychange", () => (now.value = Date.now()));

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/** The time in the reader's zone, for a title. */
export function wholeTime(at: string): string {
  return whole.format(new Date(at));
}

/** How long ago, or how far ahead; the time itself is its title. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {relativeText(Date.parse(at), now.value)}
    </time>
  );
}

/** The duration of what has ended, or so far of what goes on. A thing that has not begun has none. */
export function Elapsed({
  from,
  to,
  ms,
}: {
  readonly from: string | null;
  readonly to: string | null;
  readonly ms?: number;
}) {
  if (from === null) return <span>–</span>;
  const shownMs = to === null ? now.value - Date.parse(from) : (ms ?? Date.parse(to) - Date.parse(from));
  return <span>{durationText(to === null ? Math.floor(Math.max(0, shownMs) / 1_000) * 1_000 : shownMs)}</span>;
}
