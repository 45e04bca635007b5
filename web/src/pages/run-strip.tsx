/** The last runs as bars: the height is the duration, the colour and the title are the status. */
import { durationText } from "../parts/time-texts.ts";
import { toneOf, type StatusWord } from "../parts/status-words.ts";
import { words } from "../words.ts";
import { barHeights } from "./bar-heights.ts";
import styles from "./run-strip.module.css";

interface Bar {
  readonly runId: string;
  readonly status: string;
  /** Milliseconds; undefined draws every bar alike. */
  readonly duration?: number;
}

/** `runs`: the newest first, as the API lists them. They are drawn with the newest at the right. */
export function RunStrip({
  runs,
  places,
  tall = false,
}: {
  readonly runs: readonly Bar[];
  readonly places: number;
  readonly tall?: boolean;
}) {
  const shown = runs.slice(0, places).toReversed();
  const heights = barHeights(shown.map(({ duration }) => duration ?? 1));
  return (
    <span class={styles["strip"]} data-tall={tall}>
      {Array.from({ length: Math.max(0, places - shown.length) }, (_, at) => (
        <span key={at} class={styles["none"]} aria-hidden="true" />
      ))}
      {shown.map(({ runId, status, duration }, at) => {
        const name = words.status[status as StatusWord] ?? status;
        const title = duration === undefined ? name : `${name}, ${durationText(duration)}`;
        return (
          <a
            key={runId}
            href={`/runs/${runId}`}
            title={title}
            aria-label={title}
            data-tone={toneOf(status as StatusWord)}
          >
            <span style={{ blockSize: `${heights[at]}%` }} />
          </a>
        );
      })}
    </span>
  );
}
