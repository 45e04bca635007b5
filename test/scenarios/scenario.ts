/** What the JSON file of a scenario says; play.ts plays it. */

/** What one run must be at the end of the scenario. */
export interface ExpectedRun {
  /** The status of the run. */
  readonly run: string;
  /** The reason of the status; `{0}` stands for the id of the first run. */
  readonly reason?: string;
  readonly attempt?: number;
  /** By job name: the status of each attempt, in order. */
  readonly jobs?: Readonly<Record<string, string | readonly string[]>>;
  /** By job name: the statuses of all step runs of the newest attempt, in order. */
  readonly steps?: Readonly<Record<string, readonly string[]>>;
  /** By job name: the reason of the newest attempt's status. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Names of the jobs that a rerun did not run again. */
  readonly reused?: readonly string[];
  /** Milliseconds between the run's start and its end. */
  readonly tookMs?: number;
}

export interface Scenario extends ExpectedRun {
  /** The variables of the first trigger. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The uploads of the first trigger: the texts of files by the names under which steps read them. */
  readonly uploads?: Readonly<Record<string, string>>;
  /** The texts of the files that the definition includes, by their paths. */
  readonly includes?: Readonly<Record<string, string>>;
  /** Performed in this order, each as soon as its condition allows. */
  readonly acts?: readonly Act[];
  /** What the runs after the first one must be. */
  readonly others?: readonly ExpectedRun[];
  /** The values that the steps of all runs have in the variable SAYS, in the order in which the steps ran. */
  readonly says?: readonly string[];
  /** Ids and words of the events that agents have pushed, as the logs of all runs have them. */
  readonly pushed?: readonly (readonly [id: string, word: string])[];
  /** Names of the jobs, in the order in which an agent took them. */
  readonly order?: readonly string[];
  /**
   * What the notifications of all runs say, in the order in which they were sent, those of one moment by the alphabet: for an e-mail its receiver and its subject, for
   * all others the path of the address and the text, of a webhook its type. `{0}` stands for the id of the first run.
   */
  readonly told?: readonly string[];
}

/** Something that a user does when `after` holds; without `after`, when nothing happens by itself any more. */
export interface Act {
  readonly after?: Condition;
  readonly do:
    | "trigger"
    | "stop"
    | "pause"
    | "resume"
    /** Cancels the newest attempt of the job named by `job`, or of the step named by `step`. */
    | "cancelJob"
    | "cancelStep"
    /** Gives the step named by `step` this `priority` and these `notes`. */
    | "updateStep"
    | "approve"
    | "reject"
    | "rerun"
    /** The agent that has the held step pushes `events`. */
    | "pushEvents"
    /** Lets the held step of the job named by `job` succeed. */
    | "release"
    /** Reports the agent that has the job named by `job` as lost. */
    | "lose"
    /** Moves the clock to the next timer. */
    | "pass"
    /** Moves the clock by `minutes`. */
    | "wait";
  readonly minutes?: number;
  /** The index of the run, from 0. Default: the first run. */
  readonly run?: number;
  readonly job?: string;
  /** The user: a role, or `name:role`. Default: the admin `ann`. */
  readonly as?: string;
  readonly scope?: "all" | "failed" | "step";
  /** For `cancelStep`, `updateStep`, and for `rerun` with the scope `step`: `job/step`, both by name. */
  readonly step?: string;
  /** Ids and words of events. An event with the id of another one is that one again. */
  readonly events?: readonly (readonly [id: string, word: string])[];
  readonly priority?: number;
  readonly notes?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  /** A part of the message with which the act must be refused; without it, the act must succeed. */
  readonly refused?: string;
}

/** The state of a run, or of one of its jobs, for which an act waits. */
export interface Condition {
  readonly run?: number;
  readonly job?: string;
  readonly status?: string;
  /** The reason in `waitingFor`. */
  readonly waitsFor?: string;
  /** A part of the text in `waitingFor`; `{0}` stands for the id of the first run. */
  readonly text?: string;
}
