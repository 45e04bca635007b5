/** The store: all ports behind one handle, which an adapter opens. */
import type { AgentEventStore } from "./agent-events.ts";
import type { AggregateStore, DeploymentStore } from "./aggregates.ts";
import type { ArtifactStore } from "./artifacts.ts";
import type { AuditStore } from "./audit.ts";
import type { BlobStore } from "./blobs.ts";
import type { CacheStore } from "./caches.ts";
import type { DeadLetterStore } from "./dead-letters.ts";
import type { DeliveryStore } from "./deliveries.ts";
import type { DocumentStore } from "./documents.ts";
import type { EventStore, SystemEventStore } from "./events.ts";
import type { HookStore } from "../hooks/hook-store.ts";
import type { IdempotencyStore } from "./idempotency.ts";
import type { IdentityStore } from "./identity.ts";
import type { InboxStore } from "./inbox.ts";
import type { InspectionStore } from "./inspection.ts";
import type { LoginStore } from "./logins.ts";
import type { LogStore } from "./logs.ts";
import type { NoteStore, OutputStore, RunImageStore } from "./outputs.ts";
import type { PipelineDeletionStore } from "./deletions.ts";
import type { PipelineStore } from "./pipelines.ts";
import type { PlanStore } from "./plans.ts";
import type { PluginStore } from "./plugins.ts";
import type { RemovalStore } from "./removals.ts";
import type { Reshard } from "./reshard.ts";
import type { RightsStore } from "./rights.ts";
import type { RetentionStore } from "./retention.ts";
import type { RemoveRun } from "./removals.ts";
import type { SecretStore } from "./secrets.ts";
import type { ShardStore } from "./shards.ts";
import type { StatisticsStore, TestHistoryStore } from "./statistics.ts";
import type { UploadStore } from "./uploads.ts";

export interface Stores {
  /** The largest snapshot of a run that the store holds, without the effects that the run owes, bytes; null for no bound. */
  readonly snapshotBytes: number | null;
  readonly aggregates: AggregateStore;
  readonly deployments: DeploymentStore;
  readonly plans: PlanStore;
  readonly inbox: InboxStore;
  readonly events: EventStore;
  readonly agentEvents: AgentEventStore;
  readonly logs: LogStore;
  readonly outputs: OutputStore;
  readonly notes: NoteStore;
  readonly runImages: RunImageStore;
  readonly artifacts: ArtifactStore;
  readonly caches: CacheStore;
  readonly uploads: UploadStore;
  readonly blobs: BlobStore;
  readonly plugins: PluginStore;
  readonly shards: ShardStore;
  readonly deadLetters: DeadLetterStore;
  readonly pipelines: PipelineStore;
  readonly pipelineDeletions: PipelineDeletionStore;
  readonly identity: IdentityStore;
  readonly rights: RightsStore;
  readonly documents: DocumentStore;
  readonly deliveries: DeliveryStore;
  readonly hooks: HookStore;
  readonly logins: LoginStore;
  readonly secrets: SecretStore;
  readonly statistics: StatisticsStore;
  readonly testHistories: TestHistoryStore;
  readonly systemEvents: SystemEventStore;
  readonly audit: AuditStore;
  readonly idempotency: IdempotencyStore;
  readonly removeRun: RemoveRun;
  readonly reshard: Reshard;
  readonly removals: RemovalStore;
  readonly retention: RetentionStore;
  readonly inspection: InspectionStore;
  /** Resolves when the store answers; rejects when it does not. */
  ping(): Promise<void>;
  /** Resolves when the store would accept a save now, as far as this can be known without one. Stores nothing new. */
  probe(): Promise<void>;
  /** Closes the connection. The caller first waits for its own calls: a call that still runs may reject. */
  close(): Promise<void>;
}
