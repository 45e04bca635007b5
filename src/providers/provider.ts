/** The hosts of repositories, as millrace proposes changes there: one port, and what its adapters share. */

export const PROVIDERS = ["github", "gitlab", "gitea", "forgejo", "bitbucket"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** A pull request, or a merge request. */
export interface Proposal {
  readonly number: number;
  /** Its page for people. */
  readonly url: string;
  readonly isOpen: boolean;
}

export interface NewProposal {
  /** The branch with the change; it exists. */
  readonly branch: string;
  /** The branch that the change is for. */
  readonly target: string;
  readonly title: string;
  readonly body: string;
}

/** What a commit status says. Hosts that know fewer words get the nearest one. */
export const STATUS_STATES = ["pending", "running", "success", "failure", "cancelled"] as const;
export type StatusState = (typeof STATUS_STATES)[number];

/** The longest name and description that all hosts take. */
export const STATUS_NAME_CHARS = 255;
export const STATUS_DESCRIPTION_CHARS = 140;

/** A commit has one status of a name; a later one replaces it. */
export interface CommitStatus {
  /** A full id. */
  readonly commit: string;
  /** Up to {@link STATUS_NAME_CHARS}. */
  readonly name: string;
  readonly state: StatusState;
  /** Up to {@link STATUS_DESCRIPTION_CHARS}. */
  readonly description: string;
  /** Where people read more; null for no link. */
  readonly url: string | null;
}

/** A webhook at the host. */
export interface HostHook {
  readonly id: string;
  readonly url: string;
  readonly isActive: boolean;
  /** What it should send and does not, in the words of the host. */
  readonly missing: readonly string[];
  /** The status with which its last delivery was answered; null where the host does not tell, and before the first one. */
  readonly lastStatus: number | null;
}

export interface NewHostHook {
  readonly url: string;
  readonly secret: string;
}

/** A user of the host. */
export interface HostUser {
  readonly login: string;
  /** What the host knows the user by for good: the number at GitLab, the UUID in braces at Bitbucket. */
  readonly id: string;
}

/** One repository at its host. All methods reject with a `GitFault`. */
export interface Provider {
  /** The newest proposal of the branch for the target, open or not; undefined for none. */
  find(branch: string, target: string): Promise<Proposal | undefined>;
  /** Opens a proposal, or finds the open one of the branch. A repeat finds what a call that was cut off has opened. */
  propose(proposal: NewProposal): Promise<Proposal>;
  /** Resolves when the host shows this status. A repeat changes nothing. `signal` ends the wait for the host. */
  setStatus(status: CommitStatus, signal?: AbortSignal): Promise<void>;
  /** Whether the user may push to the repository. False for a user that the host does not know. */
  mayWrite(user: HostUser): Promise<boolean>;
  /** The newest commit of a proposal, of which the host may tell the first 12 characters alone. */
  headOf(number: number): Promise<string>;
  /** All webhooks of the repository, in the order in which the host lists them. */
  hooks(): Promise<readonly HostHook[]>;
  /** Makes a webhook with all events that millrace reads. */
  createHook(hook: NewHostHook): Promise<HostHook>;
  /** Gives a webhook its address, secret and events, and makes it active. */
  updateHook(id: string, hook: NewHostHook): Promise<HostHook>;
  /** A webhook that is gone is good. */
  deleteHook(id: string): Promise<void>;
}
