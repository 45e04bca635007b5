/** What every use case works with; wired once for each node, in `src/node/node.ts`. */
import type { MailboxSender } from "../../queues/ports.ts";
import type { Board, Presence } from "../board/board.ts";
import type { ArtifactRules } from "../domain/artifacts.ts";
import type { CacheRules } from "../domain/caches.ts";
import type { Clock } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import type { Feed } from "../feed/feed.ts";
import type { SecretVault } from "../secrets/vault.ts";
import type { StoredActor } from "../stores/ports/aggregates.ts";
import type { Stores } from "../stores/ports/stores.ts";

export interface AppContext {
  readonly stores: Stores;
  readonly feed: Feed;
  readonly mailboxes: MailboxSender;
  readonly board: Board;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Logger;
  /** For metrics, told of the actors of a run that was created here; it must neither throw nor take long. */
  readonly onRunBegun?: (actors: readonly StoredActor[]) => void;
  /** Number of mailbox shards; fixed for a deployment. */
  readonly shards: number;
  /** First word of event types. */
  readonly eventNamespace: string;
  /** What seals and reads secrets. */
  readonly secrets: SecretVault;
  readonly artifactRules: ArtifactRules;
  readonly cacheRules: CacheRules;
  /** HMAC key of access tokens, at least 32 bytes. */
  readonly signingKey: Uint8Array;
}

/** A context of which only the named stores are used. */
export type WithStores<Name extends keyof Stores> = { readonly stores: Pick<Stores, Name> };
