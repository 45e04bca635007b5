/**
 * The context that use cases work with, wired once for each node, in `src/node/node.ts`. Each folder of use cases
 * narrows the context to what the folder touches, in a `context.ts` of its own.
 */
import type { MailboxSender } from "../../queues/ports.ts";
import type { Board, Presence } from "../board/board.ts";
import type { QueueView } from "../board/queue-places.ts";
import type { DefinitionWork } from "../definition-work/definition-work.ts";
import type { ArtifactRules, UploadRules } from "../domain/artifacts.ts";
import type { CacheRules } from "../domain/caches.ts";
import type { Clock } from "../domain/clock.ts";
import type { newId } from "../domain/ids.ts";
import type { ColdLogs, LogLimit } from "../domain/retention.ts";
import type { BegunRuns } from "./begun-runs.ts";
import type { WorkloadProver } from "./identity/workload-proofs.ts";
import type { LargeReads } from "./large-reads.ts";
import type { RecentlyRead } from "./recently-read.ts";
import type { RunPlan } from "../domain/plan.ts";
import type { GitRepositories } from "../git/git-repositories.ts";
import type { InstallationTokens } from "../providers/installation-tokens.ts";
import type { ApiCredential } from "../providers/provider-client.ts";
import type { ProviderPlace } from "../providers/place.ts";
import type { Provider } from "../providers/provider.ts";
import type { Logger } from "../domain/logger.ts";
import type { Feed } from "../feed/feed.ts";
import type { SecretVault } from "../secrets/vault.ts";
import type { Stores } from "../stores/ports/stores.ts";
import type { Meters } from "../telemetry/meters.ts";
import type { SpanSink } from "../telemetry/spans.ts";

export interface AppContext {
  /** The truth: everything that has to survive a restart. */
  readonly stores: Stores;
  /** Live events, log lines and notices between nodes; hints that may be lost. */
  readonly feed: Feed;
  /** Sends messages to actors. */
  readonly mailboxes: MailboxSender;
  /** Jobs that wait for an agent. */
  readonly board: Board;
  /** Where jobs stand in the queue of the board. Absent: no caller is told. */
  readonly queue?: QueueView;
  /** Which agents are connected, and what each can take. */
  readonly presence: Presence;
  /** Drafts, checks and plans definitions off the event loop. Absent: everything is computed at once. */
  readonly definitions?: DefinitionWork;
  /** Reaches the repositories of definitions. Absent: definitions are inline only. */
  readonly git?: {
    readonly repositories: GitRepositories;
    readonly openProvider: (place: ProviderPlace, credential: ApiCredential) => Provider;
    /** Makes tokens of GitHub Apps. */
    readonly appTokens: Pick<InstallationTokens, "source">;
    readonly committer: { readonly name: string; readonly email: string };
  };
  /** Bounds reads of large runs, and shares them. Absent: each is made for itself. */
  readonly largeReads?: LargeReads;
  /** Remembers plans of large runs. Absent: each is read again. */
  readonly largePlans?: RecentlyRead<RunPlan>;
  /** Wall-clock and monotonic time; tests set their own. */
  readonly clock: Clock;
  /** Makes the ids of received deliveries and of their runs. Absent: from the time and the randomness of this process. */
  readonly newId?: typeof newId;
  /** Log of this process, for operators. */
  readonly log: Logger;
  /** Hears of each run that is created here. Absent: no part of this process needs to know. */
  readonly begunRuns?: BegunRuns;
  /** Takes the spans of ended runs. Absent: no receiver is configured. */
  readonly spans?: SpanSink;
  /** Counts what this node does. Absent: nothing reads the counts. */
  readonly meters?: Meters;
  /** Number of mailbox shards; fixed for a deployment. */
  readonly shards: number;
  /** First word of event types. */
  readonly eventNamespace: string;
  /** Encrypts the values of secrets, and decrypts them for dispatches. */
  readonly secrets: SecretVault;
  /** How much of a step's log is stored, unless its project has a limit of its own. */
  readonly logLimit: LogLimit;
  /** The variables of the environment that are set; absent for none. */
  readonly givenVariables?: readonly string[];
  /** Bounds on the size and the age of artifacts. */
  readonly artifactRules: ArtifactRules;
  /** Bounds on the size and the age of cache entries. */
  readonly cacheRules: CacheRules;
  /** The configured address of the edges, without a path; absent without one. It is the issuer of identity tokens. */
  readonly publicUrl?: string;
  /** Bounds on the size and the age of uploads. */
  readonly uploadRules: UploadRules;
  /** Verifies identity tokens with which agents register. Absent: no issuer is trusted. */
  readonly workloads?: WorkloadProver;
  /** When logs go to the object storage. Absent: they stay in the store. */
  readonly coldLogs?: ColdLogs;
  /** Users fetch content from the object storage where they can. Absent: the edge sends all of it. */
  readonly directDownloads?: boolean;
  /** HMAC key that signs and verifies access tokens, at least 32 bytes. */
  readonly signingKey: Uint8Array;
}

/** A context of which only the named stores are used. */
export type WithStores<Name extends keyof Stores> = { readonly stores: Pick<Stores, Name> };
