/** What the attacks on those who follow runs share: a run to follow, and sockets. */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Target } from "./attack.ts";

export interface StepName {
  readonly pipelineId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

interface RunAnswer {
  readonly detail: {
    readonly jobs: readonly {
      readonly jobId: string;
      readonly steps: readonly { readonly stepRunId: string; readonly status: string }[];
    }[];
  };
}

/** Starts a run of these jobs, and answers its steps. */
export async function startRun(target: Target, name: string, jobs: readonly object[]): Promise<readonly StepName[]> {
  const token = target.tokens.maintainer;
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
    (await target.call(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) }))!.body as T;
  const { pipelineId } = (await call<{ detail: { pipelineId: string } }>("POST", "/pipelines", { name })).detail;
  await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs } });
  const { runId } = (await call<{ detail: { runId: string } }>("POST", `/pipelines/${pipelineId}/trigger`, {})).detail;
  const run = await call<RunAnswer>("GET", `/pipelines/runs/${runId}`);
  return run.detail.jobs.flatMap(({ jobId, steps }) =>
    steps.map(({ stepRunId }) => ({ pipelineId, jobId, stepRunId })),
  );
}

/** The id of the only run of a pipeline. */
export async function runIdOf(target: Target, pipelineId: string): Promise<string> {
  const found = await target.call("GET", `/api/v1/pipelines/${pipelineId}/runs`, { token: target.tokens.viewer });
  const { detail } = found!.body as { readonly detail: { readonly list: readonly { readonly runId: string }[] } };
  return detail.list[0]!.runId;
}

/** Jobs that wait for an agent that does not exist. */
export function waitingJobs(count: number): readonly object[] {
  const steps = [{ name: "step", uses: "shell", args: { script: "true" } }];
  const agentSelector = { matchLabels: { name: "none" } };
  return Array.from({ length: count }, (_, at) => ({ name: `job ${at}`, agentSelector, steps }));
}

/** Opens a WebSocket as the viewer, and counts its end and its errors. Null when it was refused. */
export async function openSocket(target: Target): Promise<WebSocket | null> {
  const url = `${target.url.replace("http", "ws")}/api/v1/ws`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${target.tokens.viewer}` } });
  socket.on("close", (code) => target.count(`closed ${code}`));
  return new Promise((resolve) => {
    socket.on("error", (error) => {
      target.count(error.message);
      resolve(null);
    });
    socket.on("open", () => resolve(socket));
  });
}

/** Resolves once the attack is over. */
export async function untilOver(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await pause(100);
}
