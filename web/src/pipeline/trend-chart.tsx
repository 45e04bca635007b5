/** The durations of the last runs as points with their moving median, and in words what has changed. */
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Panel, Section } from "../parts/page.tsx";
import { toneOf, type StatusWord } from "../parts/status-words.ts";
import { durationText } from "../parts/time-texts.ts";
import { words } from "../words.ts";
import { pipelineWords } from "./pipeline-words.ts";
import { type Trend, trendOf } from "./trend.ts";
import styles from "./trend-chart.module.css";

const texts = pipelineWords.trend;
const MOST_RUNS = 100;
/** Fewer runs are seen in the strip of the last ones. */
const LEAST_RUNS = 8;
/** A smaller change is chance. */
const SAME_PERCENT = 3;

/** `turn`: reads the runs again when it changes. */
export function TrendSection({ pipelineId, turn }: { readonly pipelineId: string; readonly turn: unknown }) {
  const runs = useResource(
    (signal) => {
      const query = { pipelineId, status: "success,failed,partial", limit: MOST_RUNS };
      return api.get("/runs", { query, signal });
    },
    [pipelineId, turn],
  );
  const list = runs.value?.list ?? [];
  if (list.length < LEAST_RUNS) return null;
  const trend = trendOf(list);
  return (
    <Section title={texts.title}>
      <Panel padded>
        <p>{changeText(trend)}</p>
        <Chart of={trend} />
        <p class={styles["about"]}>{texts.about(list.length)}</p>
      </Panel>
    </Section>
  );
}

function changeText({ change, failures }: Trend): string {
  const parts: string[] = [];
  if (change !== null) {
    const { runs, median, percent } = change;
    const than =
      Math.abs(percent) < SAME_PERCENT
        ? texts.same
        : percent > 0
          ? texts.longer(percent)
          : texts.shorter(Math.abs(percent));
    parts.push(`${texts.median(runs, durationText(median))}, ${than}`);
  }
  if (failures !== null) parts.push(texts.failed(failures.now, failures.before, failures.runs));
  return parts.join(" ");
}

function Chart({ of: { points, most } }: { readonly of: Trend }) {
  const x = (at: number): number => ((at + 0.5) / points.length) * 100;
  const y = (ms: number): number => Math.min(1, ms / most) * 100;
  const line = points
    .flatMap(({ median }, at) => (median === null ? [] : [`${x(at).toFixed(2)},${(100 - y(median)).toFixed(2)}`]))
    .join(" ");
  return (
    <div class={styles["chart"]} aria-hidden="true">
      <span class={styles["most"]}>{durationText(most)}</span>
      <div class={styles["plot"]}>
        <svg viewBox="0 0 100 100" preserveAspectRatio="none">
          <polyline points={line} />
        </svg>
        {points.map(({ runId, status, duration }, at) => (
          <span
            key={runId}
            data-tone={toneOf(status as StatusWord)}
            title={`${words.status[status as StatusWord]}, ${durationText(duration)}`}
            style={{ left: `${x(at).toFixed(2)}%`, bottom: `${y(duration).toFixed(2)}%` }}
          />
        ))}
      </div>
    </div>
  );
}
