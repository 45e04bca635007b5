/** Follows a run of a server on the screen, also across times in which the server does not answer. */
import { EXIT } from "../exit-codes.ts";
import { followRun } from "../follow-run.ts";
import { gateText } from "../run-approvals.ts";
import type { Job, RunDetail, Step } from "../run-tree.ts";
import { RunView } from "../run-view.ts";
import { printable, Screen } from "../screen.ts";
import { say, type Session } from "./session.ts";

/** A person sees no difference between this and 200 ms, and a server with many viewers does. */
const READ_EVERY_MS = 500;
/** A restart or an upgrade of a server takes less. */
const UNREACHABLE_MS = 600_000;

export interface WatchOptions {
  /** The pipeline's name. */
  readonly name: string;
  /** True to show the lines of logs too. */
  readonly logs: boolean;
}

/** Resolves with 0 when the run succeeded, else 1. A signal ends only the watching. */
export async function watchRun(session: Session, runId: string, { name, logs }: WatchOptions): Promise<number> {
  const { report, signal, runs } = session;
  // With --json, stdout is for the JSON alone.
  const screen = new Screen(report.isJson ? process.stderr : process.stdout);
  const view = new RunView(screen, { name: printable(name) });
  const asked = new Set<string>();
  const follower = {
    update(run: RunDetail) {
      view.update(run);
      for (const { approvalId, status, gate } of run.approvals) {
        if (status !== "pending" || asked.has(approvalId)) continue;
        asked.add(approvalId);
        const what = gateText(gate);
        screen.print(printable(`${what} waits for an approval: millrace approve ${runId}`));
      }
    },
    ...(logs ? { log: view.log.bind(view) } : {}),
    connection(isConnected: boolean, reason?: Error) {
      screen.print(isConnected ? "connected again" : printable(`${reason!.message}; trying again`));
    },
    incomplete(job: Job, step: Step) {
      screen.print(printable(`the log of ${job.name}/${step.name} has not arrived to its end: millrace logs ${runId}`));
    },
  };
  try {
    const ended = await followRun(runs, runId, follower, signal, {
      readEveryMs: READ_EVERY_MS,
      unreachableMs: UNREACHABLE_MS,
    });
    view.end(ended);
    if (report.isJson) report.json(ended);
    return ended.status === "success" ? EXIT.ok : EXIT.failure;
  } catch (error) {
    screen.settle();
    say(`the run is not stopped; to watch it again: millrace runs watch ${runId}`);
    throw error;
  }
}
