/** The exact costs of a run of one step, on an installation of one node with the embedded store. */
export const RUN_COSTS = {
  /** The claim, the start and the end. */
  turns: 3,
  /** The job's claim and end, the step's dispatch, start and end, and the end of the run's last job. */
  decided: 6,
  /** The creation of the run and one save for each turn; the last one settles the run. */
  "store writes": 4,
  /** For the envelope of each turn: it is sent, fetched and settled, and the owner looks for another one. */
  "mailbox calls": 12,
  /** The offer, its claim, its withdrawal, and the look for another offer when the slot is free again. */
  "board calls": 4,
  /** The node is alone, so its own listeners hear the events and the agent's notices without Redis. */
  publications: 0,
  /** The calls above, and for each envelope the wait for the next one. */
  "Redis calls": 19,
  /** SQLite's statements, without those that a worker asks every second whether a run exists or not. */
  statements: 25,
  /** Transactions of SQLite that write: the creation of the run, and one for each turn. */
  commits: 4,
};
