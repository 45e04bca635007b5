/** The editor of a definition: the text, its problems as one types, the plan beside it, saving and history. */
import { useEffect, useState } from "preact/hooks";
import { session } from "../app/session.ts";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { STARTER_TEXT } from "../pages/starter.ts";
import { words } from "../words.ts";
import { type Draft, readDraft } from "./drafts.ts";
import { loadHead } from "./head.ts";
import { Writing } from "./writing.tsx";

export function EditPage({ pipelineId }: { readonly pipelineId: string }) {
  const path = { pipelineId };
  const pipeline = useResource((signal) => api.get("/pipelines/{pipelineId}", { path, signal }), [pipelineId]);
  const head = useResource((signal) => loadHead(pipelineId, signal), [pipelineId]);
  const [draft] = useState<Draft | undefined>(() => readDraft(pipelineId, session.value?.user.userId ?? ""));
  const [turn, setTurn] = useState(0);
  const [isRestored, setRestored] = useState(draft !== undefined);
  const loaded = head.value;
  // A restored or discarded text begins a new editor.
  useEffect(() => setTurn((now) => now + 1), [loaded?.head?.headCommitSha]);
  const name = pipeline.value?.name ?? pipelineId;
  const crumbs = [
    ["/pipelines", words.pipelines.title],
    [`/pipelines/${pipelineId}`, name],
  ] as const;
  if (pipeline.value === undefined) {
    return (
      <Page title={words.edit.titled(name)} crumbs={crumbs}>
        <Loaded of={pipeline}>{() => null}</Loaded>
      </Page>
    );
  }
  return (
    <Loaded of={pipeline}>
      {(shown) =>
        loaded === undefined ? (
          <Page title={words.edit.titled(name)} crumbs={crumbs}>
            <Loaded of={head}>{() => null}</Loaded>
          </Page>
        ) : (
          <Writing
            key={turn}
            pipeline={shown}
            head={loaded.head}
            draft={isRestored ? draft : undefined}
            starter={STARTER_TEXT}
            crumbs={crumbs}
            onReload={() => {
              setRestored(false);
              head.reload();
              setTurn((now) => now + 1);
            }}
          />
        )
      }
    </Loaded>
  );
}
