/** The page of the log of one step. */
import { Page } from "../parts/page.tsx";

export default function LogPage({ runId, stepRunId }: { readonly runId: string; readonly stepRunId: string }) {
  return (
    <Page title={stepRunId} crumbs={[[`/runs/${runId}`, runId]]}>
      {null}
    </Page>
  );
}
