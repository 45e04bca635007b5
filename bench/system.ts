/** The interface of a measured system. Each system does the same work in its own processes. */

/** The workloads that all systems can do; millrace also has W6 to W16. */
export type WorkloadName = "W1" | "W2" | "W3" | "W4" | "W5";

export interface Figure {
  readonly metric: string;
  readonly unit: string;
  readonly value: number;
}

/** The marks with which a step shows that its process runs: `sh -c 'echo ID > FIFO'`. The harness reads the pipe. */
export interface Marks {
  /** The command of a step that writes the mark `id`. */
  command(id: string): readonly [program: string, ...args: string[]];
  /**
   * The time of the mark, by `performance.now()` of the harness. Rejects after 30 s without the mark, and when the mark
   * came twice.
   */
  seen(id: string): Promise<number>;
}

export interface System {
  readonly name: string;
  /** One round of each workload that the system can do. A workload rejects when a step was lost or ran twice. */
  readonly workloads: Readonly<Partial<Record<WorkloadName, () => Promise<readonly Figure[]>>>>;
  stop(): Promise<void>;
}

/** Starts a system. `folder` is empty, for data and logs. */
export type StartSystem = (folder: string, marks: Marks) => Promise<System>;
