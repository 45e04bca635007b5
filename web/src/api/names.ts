/** Names of pipelines by their ids, for lists that the API answers with ids. Each is asked for once. */
import { signal } from "@preact/signals";
import { api } from "./client.ts";

const names = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();
let waiting: string[] = [];

/** The name, or the id until the name is known. */
export function pipelineName(pipelineId: string): string {
  const known = names.value.get(pipelineId);
  if (known === undefined && !asked.has(pipelineId)) {
    asked.add(pipelineId);
    waiting.push(pipelineId);
    // What one list needs is asked for together.
    if (waiting.length === 1) queueMicrotask(() => void load());
  }
  return known ?? pipelineId;
}

export function noteNames(list: readonly { readonly pipelineId: string; readonly name: string }[]): void {
  for (const { pipelineId } of list) asked.add(pipelineId);
  names.value = new Map([...names.value, ...list.map(({ pipelineId, name }) => [pipelineId, name] as const)]);
}

async function load(): Promise<void> {
  const wanted = waiting;
  waiting = [];
  try {
    // One page has the names of most installations; the others are asked for one by one.
    if (wanted.length > 3) noteNames((await api.get("/pipelines", { query: { pageSize: 100 } })).list);
    const missing = wanted.filter((id) => !names.value.has(id));
    const found = await Promise.allSettled(
      missing.map((id) => api.get("/pipelines/{pipelineId}", { path: { pipelineId: id } })),
    );
    noteNames(found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
  } catch {
    // The ids stay in their places; the list says itself that the server does not answer.
    for (const id of wanted) asked.delete(id);
  }
}
