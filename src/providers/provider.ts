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

/** One repository at its host. All methods reject with a `GitFault`. */
export interface Provider {
  /** The newest proposal of the branch for the target, open or not; undefined for none. */
  find(branch: string, target: string): Promise<Proposal | undefined>;
  /** Opens a proposal, or finds the open one of the branch. A repeat finds what a call that was cut off has opened. */
  propose(proposal: NewProposal): Promise<Proposal>;
  /** All webhooks of the repository, in the order in which the host lists them. */
  hooks(): Promise<readonly HostHook[]>;
  /** Makes a webhook with all events that millrace reads. */
  createHook(hook: NewHostHook): Promise<HostHook>;
  /** Gives a webhook its address, secret and events, and makes it active. */
  updateHook(id: string, hook: NewHostHook): Promise<HostHook>;
  /** A webhook that is gone is good. */
  deleteHook(id: string): Promise<void>;
}
