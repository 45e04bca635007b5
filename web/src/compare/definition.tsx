/** What changed between the definitions of two runs. */
import { api } from "../api/client.ts";
import { isReason } from "../api/errors.ts";
import { useResource } from "../api/resource.ts";
import { DiffView } from "../parts/diff-view.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import type { Run } from "../run/run-view.ts";
import { compareWords } from "./compare-words.ts";
import styles from "./compare.module.css";

const texts = compareWords.definition;

/** Nothing for runs of different pipelines, whose definitions have no common history. */
export function Definition({ a, b }: { readonly a: Run; readonly b: Run }) {
  if (a.pipelineId !== b.pipelineId) return null;
  return (
    <Section title={texts.title}>
      {a.revisionId === b.revisionId ? <p class={styles["quiet"]}>{texts.same}</p> : <Changes a={a} b={b} />}
    </Section>
  );
}

function Changes({ a, b }: { readonly a: Run; readonly b: Run }) {
  const { pipelineId, revisionId } = a;
  const diff = useResource(
    (signal) =>
      api
        .get("/pipelines/{pipelineId}/revisions/{revisionId}/diff", {
          path: { pipelineId, revisionId },
          query: { against: b.revisionId },
          signal,
        })
        .catch((error: unknown) => {
          if (isReason(error, "not_found")) return null;
          throw error;
        }),
    [pipelineId, revisionId, b.revisionId],
  );
  return (
    <Loaded of={diff} rows={3}>
      {(value) => {
        if (value === null) return <p class={styles["quiet"]}>{texts.gone}</p>;
        if (value.diff === "") return <p class={styles["quiet"]}>{texts.sameText}</p>;
        return <DiffView diff={value.diff} label={texts.title} />;
      }}
    </Loaded>
  );
}
