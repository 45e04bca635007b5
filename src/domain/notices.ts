/** Notices: what people and their tools are told of a run or a job, and by which channel. */
export const NOTICE_REASONS = ["success", "failure", "partial", "cancelled", "fixed", "approval", "waiting"] as const;
export type NoticeReason = (typeof NOTICE_REASONS)[number];

export const NOTICE_CHANNELS = ["webhook", "slack", "email"] as const;
export type NoticeChannel = (typeof NOTICE_CHANNELS)[number];

/**
 * A notification of a definition as the plan of a run holds it. The expressions of its texts read `jobs`, `secrets` and
 * `notice`; all other values are put in.
 */
export interface PlannedNotice {
  /** The name of the job that it is about, for all cells of a matrix; null for the run. */
  readonly job: string | null;
  readonly on: readonly NoticeReason[];
  /** How long a wait has to last, milliseconds; null when no wait is told. */
  readonly longerThanMs: number | null;
  readonly channel: NoticeChannel;
  readonly message: NoticeMessage;
}

/** What is sent, and to where. A part that is absent has a default. */
export interface NoticeMessage {
  /** Of a webhook, and of a service like Slack. */
  readonly url?: string;
  /** The name of the secret that signs a webhook. */
  readonly secret?: string;
  /** Of a webhook: a JSON object. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Of a service like Slack. */
  readonly channel?: string;
  /** Addresses of an e-mail. */
  readonly to?: readonly string[];
  readonly subject?: string;
  readonly text?: string;
}

/** What the expressions of a notice read as `notice`. */
export interface NoticeContext {
  readonly on: NoticeReason;
  /** The status of the run or the job. */
  readonly status: string;
  /** Why it ended so; empty when its status says it. */
  readonly reason: string;
  /** The default subject and the default text. */
  readonly subject: string;
  readonly text: string;
  /** Where the run is seen; empty while the installation does not know its own address. */
  readonly url: string;
  /** The name of the job; empty when it is about the run. */
  readonly job: string;
  /** Names of failed jobs, at most {@link MAX_FAILED_JOBS}. */
  readonly failedJobs: readonly string[];
  readonly triggeredBy: string;
  readonly ref: string;
  readonly commit: string;
  /** Seconds from the start of the run or the job; of a wait, how long it has lasted. */
  readonly duration: number;
  /** The approval, the place or the agent that is waited for; empty otherwise. */
  readonly waitingFor: string;
}

export const MAX_FAILED_JOBS = 20;
