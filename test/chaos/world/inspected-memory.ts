/**
 * The memory of a node after a collection of garbage, read through Node's inspector. Without the collection, the memory
 * of an idle process tells when V8 last had a reason to collect, and not what the process holds.
 */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { Node } from "./node.ts";

/** The option of Node that opens an inspector; its address is in the output of the process. */
export const INSPECTED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

export interface HeldMemory {
  /** Resident memory of the process, bytes. */
  readonly rss: number;
  /** What V8 and the buffers outside of its heap hold, bytes. */
  readonly held: number;
}

/** Collects the garbage of a node that was started with {@link INSPECTED}, and answers what is left. */
export async function heldMemoryOf(node: Node): Promise<HeldMemory> {
  const socket = new WebSocket(node.inspectorUrl);
  await once(socket, "open");
  let calls = 0;
  const call = async (method: string, params: object = {}): Promise<unknown> => {
    const id = ++calls;
    socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [data] = (await once(socket, "message")) as [Buffer];
      const answer = JSON.parse(data.toString()) as { readonly id?: number; readonly result: unknown };
      if (answer.id === id) return answer.result;
    }
  };
  try {
    // The second collection frees what the finalizers of the first one have let go.
    for (let time = 0; time < 2; time++) await call("HeapProfiler.collectGarbage");
    const usage = { expression: "process.memoryUsage()", returnByValue: true };
    const { result } = (await call("Runtime.evaluate", usage)) as { readonly result: { readonly value: Usage } };
    const { rss, heapUsed, external } = result.value;
    return { rss, held: heapUsed + external };
  } finally {
    socket.close();
  }
}

interface Usage {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}
