/** A list of runs that follows the server. */
import { useCallback, useEffect, useRef } from "preact/hooks";
import { api, type Schemas } from "../api/client.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { applyRunState, type RunState } from "./run-states.ts";

export type Run = Schemas["Run"];
export interface RunPage {
  readonly list: readonly Run[];
  readonly next: string | null;
}
export type RunQuery = Readonly<Record<string, string | number | boolean>>;

/** Several runs that begin or end together are read with one call. */
const GATHER_MS = 400;

/** The runs that `query` finds. `isLive`: what changes is shown at once. */
export function useRuns(query: RunQuery, isLive: boolean): Resource<RunPage> {
  const key = JSON.stringify(query);
  const runs = useResource<RunPage>((signal) => api.get("/runs", { query, signal }), [key]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isCaughtUp = useRef(false);
  const reloadSoon = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      runs.reload();
    }, GATHER_MS);
  }, [runs.reload]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const params = Object.fromEntries(
    ["projectId", "pipelineId"].flatMap((name) => (query[name] === undefined ? [] : [[name, String(query[name])]])),
  );
  useLive(isLive ? { channel: "channel_runs", params } : undefined, ({ type, data }) => {
    if (type === "reset") isCaughtUp.current = false;
    // What happened between the list and the subscription, or while there was no connection, is in a new list.
    if (type === "caughtUp") {
      if (!isCaughtUp.current) reloadSoon();
      isCaughtUp.current = true;
    }
    if (type === "removed") reloadSoon();
    if (type !== "run") return;
    const state = data as RunState;
    const known = runs.value?.list.find(({ runId }) => runId === state.runId);
    if (known === undefined || known.status !== state.status) {
      if (isCaughtUp.current) reloadSoon();
    }
    runs.update((page) => ({ ...page, list: applyRunState(page.list, state) }));
  });
  return runs;
}
