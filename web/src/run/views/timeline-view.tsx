/** The replay: a run as it was after each of its events, over its graph, each event with its cause. */
import { useEffect, useMemo, useState } from "preact/hooks";
import history from "lucide-static/icons/history.svg?raw";
import pauseIcon from "lucide-static/icons/pause.svg?raw";
import playIcon from "lucide-static/icons/play.svg?raw";
import { api } from "../../api/client.ts";
import { useResource } from "../../api/resource.ts";
import { Button } from "../../parts/button.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Blank } from "../../parts/problem.tsx";
import { StatusIcon } from "../../parts/status.tsx";
import { durationText } from "../../parts/time-texts.ts";
import { useAgentNames } from "../agent-names.ts";
import { Graph } from "../graph/graph-view.tsx";
import { causeText, Replay } from "../replay.ts";
import { reasonText } from "../run-facts.ts";
import { readTransition, type RunEvent } from "../run-event.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, type RunView } from "../run-view.ts";
import type { ViewProps } from "../view-props.ts";
import { FixedRows } from "./fixed-rows.tsx";
import styles from "./timeline-view.module.css";

const ROW = 30;
const PAGE = 1_000;
/** A replay of any run takes about so long. */
const REPLAY_MS = 12_000;
const FRAME_MS = 80;
const texts = runWords.timeline;

async function readEvents(runId: string, upTo: number, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (let after: number | null = 0; after !== null && events.length < upTo;) {
    const page: { readonly list: readonly Parameters<typeof readTransition>[0][]; readonly next: number | null } =
      await api.get("/pipelines/runs/{runId}/timeline", { path: { runId }, query: { after, limit: PAGE }, signal });
    for (const item of page.list) events.push(readTransition(item));
    after = page.list.length === 0 ? null : page.next;
  }
  return events.slice(0, upTo);
}

export function TimelineView({ view, chosen }: ViewProps) {
  const { runId } = view.head;
  // A run that goes on is read again when it has ended: its replay begins with what has happened by then.
  const events = useResource((signal) => readEvents(runId, view.number, signal), [runId, hasEnded(view)]);
  return (
    <Loaded of={events} rows={10}>
      {(list) =>
        list.length === 0 ? (
          <Blank icon={history} title={texts.gone} />
        ) : (
          <Player end={view} events={list} chosen={chosen} />
        )
      }
    </Loaded>
  );
}

function Player({
  end,
  events,
  chosen,
}: {
  readonly end: RunView;
  readonly events: readonly RunEvent[];
  readonly chosen: string | undefined;
}) {
  const replay = useMemo(() => new Replay(end, events), [events]);
  const [count, setCount] = useState(events.length);
  const [isPlaying, play] = useState(false);
  useEffect(() => {
    if (!isPlaying) return undefined;
    const step = Math.max(1, Math.round((events.length * FRAME_MS) / REPLAY_MS));
    const timer = setInterval(
      () =>
        setCount((at) => {
          if (at + step < events.length) return at + step;
          play(false);
          return events.length;
        }),
      FRAME_MS,
    );
    return () => clearInterval(timer);
  }, [isPlaying, events]);
  const at = replay.at(count);
  const names = useMemo(() => namesOf(end), [events]);
  const agents = useAgentNames();
  const start = Date.parse(events[0]!.time);
  const last = events[count - 1];
  const begin = (): void => {
    if (count === events.length) setCount(0);
    play(!isPlaying);
  };
  return (
    <>
      <div class={styles["bar"]}>
        <Button icon={isPlaying ? pauseIcon : playIcon} label={isPlaying ? texts.pause : texts.play} onClick={begin} />
        <input
          type="range"
          min={0}
          max={events.length}
          value={count}
          aria-label={texts.scrub}
          aria-valuetext={
            last === undefined
              ? texts.of(0, events.length)
              : `${texts.of(count, events.length)}: ${whatOf(last, names)}`
          }
          onInput={(event) => {
            play(false);
            setCount(Number(event.currentTarget.value));
          }}
        />
        <span class={styles["place"]}>{last === undefined ? "0 ms" : durationText(Date.parse(last.time) - start)}</span>
      </div>
      <p class={styles["said"]}>
        {last === undefined ? (
          texts.of(0, events.length)
        ) : (
          <>
            <StatusIcon of={last.status} size={14} /> {whatOf(last, names)}
            <span class={styles["cause"]}>
              {texts.followingFrom} {causeText(last, agents)}
            </span>
          </>
        )}
      </p>
      <Graph view={at} chosen={chosen} />
      <div class={styles["list"]} role="group" aria-label={texts.label}>
        <FixedRows count={events.length} rowHeight={ROW}>
          {(index, top) => {
            const event = events[index]!;
            return (
              <button
                key={event.number}
                type="button"
                class={styles["row"]}
                style={{ top }}
                aria-current={index === count - 1 ? "step" : undefined}
                data-later={index >= count}
                onClick={() => setCount(index + 1)}
              >
                <span class={styles["time"]}>{durationText(Date.parse(event.time) - start)}</span>
                <StatusIcon of={event.status} size={14} />
                <span class={styles["what"]}>{whatOf(event, names)}</span>
                <span class={styles["cause"]}>{causeText(event, agents)}</span>
              </button>
            );
          }}
        </FixedRows>
      </div>
    </>
  );
}

function namesOf(view: RunView): ReadonlyMap<string, string> {
  return new Map(
    view.jobs.flatMap(({ newest, earlier }) => [newest, ...earlier].map(({ jobId, name }) => [jobId, name])),
  );
}

function whatOf(event: RunEvent, names: ReadonlyMap<string, string>): string {
  const what = event.name || (event.jobId === null ? runWords.run : (names.get(event.jobId) ?? runWords.table.job));
  const more = event.text || reasonText(event.reason) || event.comment;
  return `${what} ${event.lifecycle}${more === "" ? "" : `: ${more}`}`;
}
