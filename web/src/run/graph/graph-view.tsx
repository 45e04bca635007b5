/** The view of a run as a graph, with what failed, the annotations and the summaries below it. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Blank } from "../../parts/problem.tsx";
import workflow from "lucide-static/icons/workflow.svg?raw";
import { runWords } from "../run-words.ts";
import type { RunView } from "../run-view.ts";
import type { ViewProps } from "../view-props.ts";
import { Notes } from "../views/notes.tsx";
import { GraphBlock } from "./graph-block.tsx";
import { layOut } from "./layout.ts";
import styles from "./graph.module.css";

/** What the scroller keeps free at its left and right. */
const SIDES = 8;

export function GraphView(props: ViewProps) {
  return (
    <>
      <Graph view={props.view} chosen={props.chosen} />
      <Notes {...props} />
    </>
  );
}

export function Graph({ view, chosen }: { readonly view: RunView; readonly chosen: string | undefined }) {
  const shape = view.jobs.map(({ key, newest }) => `${key} ${newest.stage} ${newest.name}`).join("\n");
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(Infinity);
  useLayoutEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const observer = new ResizeObserver(() => setRoom(box.clientWidth - SIDES));
    observer.observe(box);
    setRoom(box.clientWidth - SIDES);
    return () => observer.disconnect();
  }, [view.jobs.length === 0]);
  // Places depend on the plan and the room alone, so that nothing moves while the run goes on.
  const layout = useMemo(() => layOut(view.jobs, room), [shape, room]);
  if (view.jobs.length === 0) return <Blank icon={workflow} title={runWords.graph.none} />;
  const jobs = new Map(view.jobs.map((job) => [job.key, job]));
  const hasStages = layout.stages.length > 1 || layout.stages[0]?.name !== "default";
  return (
    <div ref={place} class={styles["scroller"]} tabIndex={0} role="region" aria-label={runWords.graph.label}>
      <div
        class={styles["graph"]}
        data-stages={hasStages}
        style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
      >
        {hasStages
          ? layout.stages.map(({ name, x, width }) => (
              <div key={name} class={styles["stage"]} style={{ left: `${x}px`, width: `${width}px` }} title={name}>
                {name}
              </div>
            ))
          : null}
        <svg class={styles["edges"]} width={layout.width} height={layout.height} aria-hidden="true">
          <path d={layout.edges.map(({ path }) => path).join("")} />
        </svg>
        {layout.blocks.map((block) => (
          <GraphBlock key={block.key} runId={view.head.runId} block={block} jobs={jobs} chosen={chosen} />
        ))}
      </div>
    </div>
  );
}
