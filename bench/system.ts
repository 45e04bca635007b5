/** What is measured, and by whom: each system does the same work, started by its own processes. */

/** The comparable ones; millrace has W6 to W10 besides. */
export type WorkloadName = "W1" | "W2" | "W3" | "W4" | "W5";

export interface Figure {
  readonly metric: string;
  readonly unit: string;
  readonly value: number;
}

/** How a step says that its process runs: `sh -c 'echo ID > FIFO'`; the harness reads the pipe. */
export interface Marks {
  /** The command of a step whose start is to be seen. */
  command(id: string): readonly [program: string, ...args: string[]];
  /** When that step's process wrote its mark, by `performance.now()` of the harness; rejects after 30 s, and when it comes twice. */
  seen(id: string): Promise<number>;
}

export interface System {
  readonly name: string;
  /** One round of each workload that it can do. Throws when a step was lost or ran twice. */
  readonly workloads: Readonly<Partial<Record<WorkloadName, () => Promise<readonly Figure[]>>>>;
  stop(): Promise<void>;
}

/** `folder`: empty, for data and logs. */
export type StartSystem = (folder: string, marks: Marks) => Promise<System>;
