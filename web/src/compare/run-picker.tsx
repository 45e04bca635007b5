/** Chooses the run to compare with, among the newest of the pipeline. */
import { useResource } from "../api/resource.ts";
import { api } from "../api/client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { shortId } from "../run/run-facts.ts";
import { runWords } from "../run/run-words.ts";
import type { Run } from "../run/run-view.ts";
import { compareWords } from "./compare-words.ts";
import styles from "./compare.module.css";

const SHOWN = 30;

export function RunPicker({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const { runId, pipelineId } = run;
  const runs = useResource((signal) => api.get("/runs", { query: { pipelineId, limit: SHOWN }, signal }), [pipelineId]);
  return (
    <Dialog title={compareWords.pickTitle} onClose={onClose}>
      <Loaded of={runs}>
        {({ list }) => {
          const others = list.filter((one) => one.runId !== runId);
          if (others.length === 0) return <p class={styles["quiet"]}>{compareWords.pickNone}</p>;
          return (
            <ul class={styles["picks"]}>
              {others.map((one) => (
                <li key={one.runId}>
                  <a href={`/runs/${runId}/compare/${one.runId}`} onClick={onClose}>
                    <code>{shortId(one.runId)}</code>
                    <Status of={one.status} size={14} />
                    <span class={styles["quiet"]}>
                      {one.trigger.ref.replace(/^refs\/(heads|tags)\//, "") || runWords.triggers[one.trigger.kind]}
                    </span>
                    <span class={styles["quiet"]}>
                      <Ago at={one.createdAt} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
