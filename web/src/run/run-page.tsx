/** The page of a run. */
import { Page } from "../parts/page.tsx";

export default function RunPage({ runId }: { readonly runId: string }) {
  return <Page title={runId}>{null}</Page>;
}
