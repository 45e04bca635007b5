/** The exact costs of a run of one step, on an installation of one node with the embedded store. */
export const RUN_COSTS = {
  /** The start and the end. The agent is idle, so the first turn, which the edge takes, holds the grant. */
  turns: 2,
  /** The step's start and end, the end of its job, and the end of the run's last job. */
  decided: 4,
  /** The creation of the run and one save for each turn; the last one settles the run. */
  "store writes": 3,
  /** The gateway hands the reports to the owner of the run's shard, which is in the same process. */
  "mailbox calls": 0,
  /** The node is alone, so its agents' free slots stay in the process. */
  "board calls": 0,
  /** The node is alone, so its own listeners hear the events and the agent's notices without Redis. */
  publications: 0,
  "Redis calls": 0,
  /** SQLite's statements, without those that a worker asks every second whether a run exists or not. */
  statements: 13,
  /** Transactions of SQLite that write: the creation of the run, and one for each turn. */
  commits: 3,
};
