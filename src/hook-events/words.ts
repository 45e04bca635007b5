/** Inbound hooks: who sends, and how a sender proves that a delivery is from it. */
import type { RunId, PipelineId, RevisionId } from "../domain/ids.ts";
import type { Pairs } from "../domain/pairs.ts";

/** The senders. `generic` is any program that can send JSON. */
export const HOOK_KINDS = ["github", "gitlab", "gitea", "forgejo", "bitbucket", "generic"] as const;
export type HookKind = (typeof HOOK_KINDS)[number];

/**
 * `signature`: an HMAC-SHA256 of the body, in the header of the kind. `standard`: a signature over id, time and body, as
 * https://www.standardwebhooks.com says. `token`: the secret itself. `none`: nothing, so that everybody who knows the address
 * can start runs.
 */
export const HOOK_PROOFS = ["signature", "standard", "token", "none"] as const;
export type HookProof = (typeof HOOK_PROOFS)[number];

/** The proofs that a kind can give besides `none`; the first one is the default. */
export const PROOFS_OF_KIND: Readonly<Record<HookKind, readonly HookProof[]>> = {
  github: ["signature"],
  gitlab: ["standard", "token"],
  gitea: ["signature"],
  forgejo: ["signature"],
  bitbucket: ["signature"],
  generic: ["signature", "standard", "token"],
};

/** The events that all kinds but `generic` know by the same words. */
export const HOOK_EVENTS = ["push", "tag", "pull_request", "release", "comment"] as const;

/** What an event says, in the same words for all kinds. Expressions read these fields as fields of `trigger`. */
export interface EventFacts {
  /** One of {@link HOOK_EVENTS}; with `generic`, the sender's word. */
  readonly event: string;
  /** What happened to the object, such as `opened`; empty for a push. */
  readonly action: string;
  /** The branch or tag without `refs/`; of a pull request, what a checkout fetches. */
  readonly ref: string;
  /** The full name, such as `refs/heads/main`; empty for none. */
  readonly fullRef: string;
  /** Empty for an event without one. Of a pull request, its target branch. */
  readonly branch: string;
  readonly tag: string;
  /** The commit after the event, and the one before; empty for none. */
  readonly sha: string;
  readonly before: string;
  /** Full name of the repository, such as `team/code`. */
  readonly repository: string;
  /** Login name of who did it, at the sender. */
  readonly actor: string;
  /**
   * What the sender knows the actor by for good: a login can be given up, and taken by another user. Empty where it is not
   * told; absent in deliveries that an earlier version has read.
   */
  readonly actorId?: string;
  /** Login name of who has opened the pull request; empty for none, and where the sender does not say it. */
  readonly author: string;
  /** As `actorId`. */
  readonly authorId?: string;
  /** Message of the newest commit, or title of the pull request or release. */
  readonly message: string;
  /** True when a branch or a tag was removed. */
  readonly deleted: boolean;
  /** True for a pull request that is a draft. */
  readonly draft: boolean;
  /** Number of the pull request or issue; null for none. */
  readonly number: number | null;
  /** The branch from which a pull request comes; empty for none. */
  readonly head: string;
  readonly labels: readonly string[];
  /** The text of a comment, and the word behind the `/` with which its first line begins; empty for none. */
  readonly comment: string;
  readonly command: string;
  /** True when it comes from a fork, or when that is not known: its run gets no secrets. */
  readonly fork: boolean;
}

/**
 * `matched`: a run is owed or made. `filtered`: a filter did not match. `duplicate`: another delivery told the same. `outdated`: a
 * run of a newer commit would be ended. `waiting`: the definition cannot be read yet. `refused`: it cannot be read at all, or no run
 * of it can be made.
 */
export const VERDICT_OUTCOMES = ["matched", "filtered", "duplicate", "outdated", "waiting", "refused"] as const;

/** What became of a delivery at one trigger of a definition. */
export interface TriggerVerdict {
  readonly pipelineId: PipelineId;
  readonly pipeline: string;
  /** Name of the trigger, or its number; empty for all of the definition. */
  readonly trigger: string;
  /** Which event of the delivery, from 0. */
  readonly eventIndex: number;
  readonly outcome: (typeof VERDICT_OUTCOMES)[number];
  /** For people. */
  readonly text: string;
  /** Chosen before the run is made, so that a repeat makes the same run; null where there is none. */
  readonly runId: RunId | null;
  readonly revisionId: RevisionId | null;
  /** What the run of a definition in Git builds; absent for an inline one, and where there is no run. */
  readonly commitSha?: string;
  /** True once the run is stored. */
  readonly made: boolean;
}

/** Headers by their names in small letters. */
export type HookHeaders = Pairs<string>;
