/** An installation with everything that the operations work on, in a project of one tenant. `callers.ts` has its callers. */
import { type NotificationRecord, notificationLane } from "../../src/app/notifications/notification-record.ts";
import { createHash } from "node:crypto";
import { issueToken, type TokenRequest, tokenIdOf } from "../../src/app/identity/tokens.ts";
import type { AppContext } from "../../src/app/context.ts";
import {
  type AgentId,
  asId,
  type ArtifactId,
  type CacheId,
  type UploadId,
  newId,
  type PipelineId,
  type ProjectId,
  type RunId,
  type StepRunId,
  type TeamId,
  type TenantId,
  type UserId,
  type WebhookId,
  type HookId,
  type DeliveryId,
} from "../../src/domain/ids.ts";
import { type Area, type Role, ROLES } from "../../src/domain/roles.ts";

import { problemOfAnswer } from "../support/answer-check.ts";
import { openTestNodes, type TestNode, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";
import { ownerOf, type Webhook } from "../../src/stores/ports/documents.ts";
import { deployedRun } from "../contracts/samples.ts";
import { deliveryOf } from "../contracts/delivery-store.ts";
import { hookOf, receivedOf } from "../contracts/hook-store.ts";
import { pipelineRecord } from "../support/pipelines.ts";

const CONTENT = Buffer.from("x");
const WAITING = { jobs: [{ name: "one", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] };
const SCHEDULED = { ...WAITING, triggers: { cron: [{ name: "leap", schedule: "0 0 29 2 *" }] } };
const GATED = { jobs: [{ ...WAITING.jobs[0]!, approval: { allowed: { roles: [...ROLES] } } }] };

export class World {
  readonly #nodes: TestNodes;
  readonly node: TestNode;
  readonly context: AppContext;
  readonly tenantId: TenantId = newId("tnt");
  readonly invited = newId("usr");
  readonly projectInvited = newId("usr");
  readonly otherTenantId: TenantId = newId("tnt");
  readonly projectId: ProjectId = newId("prj");
  readonly pipelineId: PipelineId = newId("pl");
  readonly gatedPipelineId: PipelineId = newId("pl");
  readonly removablePipeline: PipelineId = newId("pl");
  readonly scheduledPipelineId: PipelineId = newId("pl");
  readonly victim: UserId = newId("usr");
  readonly removable: UserId = newId("usr");
  readonly artifactId: ArtifactId = newId("art");
  readonly teamId: TeamId = newId("team");
  readonly bot: UserId = newId("usr");
  readonly tenantBot: UserId = newId("usr");
  botToken = "";
  tenantBotToken = "";
  readonly cacheId: CacheId = asId<CacheId>("cch_rights");
  readonly agentId: AgentId = newId("agt");
  registrationTokenId = "";
  readonly uploadId: UploadId = asId<UploadId>("upl_rights");
  revisionId = "";
  runId = asId<RunId>("");
  /** A run that no call of the tests ends. */
  liveRunId = asId<RunId>("");
  jobId = "";
  stepRunId = asId<StepRunId>("");
  gatedRunId = "";
  approvalId = "";

  private constructor(nodes: TestNodes, node: TestNode) {
    this.#nodes = nodes;
    this.node = node;
    this.context = node.context;
  }

  static async open(): Promise<World> {
    const nodes = await openTestNodes({ shards: 2 });
    // Every route is called with several tokens that prove nothing, from one address.
    const node = await nodes.start("edge,gateway,worker", { MILLRACE_CALLS_PER_ADDRESS: "0" });
    const world = new World(nodes, node);
    await world.#fill();
    return world;
  }

  close(): Promise<void> {
    return this.#nodes.close();
  }

  async #fill(): Promise<void> {
    const { stores } = this.context;
    for (const tenantId of [this.tenantId, this.otherTenantId]) {
      await stores.rights.createTenant({ tenantId, name: tenantId, createdAt: 1, archivedAt: null });
    }
    const { projectId, tenantId } = this;
    await stores.pipelines.createProject({ projectId, tenantId, name: "owned", createdAt: 1 });
    await stores.pipelines.create(pipelineRecord(this.pipelineId, { projectId }));
    await stores.pipelines.create(pipelineRecord(this.gatedPipelineId, { projectId }));
    await stores.pipelines.create(pipelineRecord(this.scheduledPipelineId, { projectId }));
    await this.call("POST", `/pipelines/${this.scheduledPipelineId}/spec/save`, { spec: SCHEDULED });
    const keeper = newId("pl");
    await stores.pipelines.create(pipelineRecord(keeper, { projectId }));
    await this.keepAgent();
    await this.user(this.victim, "viewer");
    await this.keepSecrets();
    await this.keepUpload();
    await this.keepTeam();
    await stores.aggregates.create(deployedRun(this));
    // The project cannot be deleted while this run is live.
    this.liveRunId = await this.#started(keeper, WAITING);
    this.runId = await this.#started(this.pipelineId, WAITING);
    this.revisionId = (await stores.pipelines.find(this.pipelineId))!.headRevisionId!;
    this.gatedRunId = await this.#started(this.gatedPipelineId, GATED);
    const { detail } = await this.call("GET", `/pipelines/runs/${this.runId}`);
    this.jobId = detail.jobs[0].jobId;
    this.stepRunId = detail.jobs[0].steps[0].stepRunId;
    await until("the schedule is defined", async () => {
      const { detail: found } = await this.call("GET", `/pipelines/${this.scheduledPipelineId}/schedules`);
      return found.total === 1 ? true : undefined;
    });
    this.approvalId = await until("the approval is requested", async () => {
      const answer = await this.call("GET", `/pipelines/runs/${this.gatedRunId}/approvals`);
      return answer.detail.list[0]?.approvalId as string | undefined;
    });
  }

  async #started(pipelineId: PipelineId, spec: object): Promise<RunId> {
    await this.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    return (await this.call("POST", `/pipelines/${pipelineId}/trigger`, {})).detail.runId;
  }

  /** Calls as the administrator. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async call(method: string, path: string, body?: object): Promise<any> {
    const answer = await this.fetch(method, path, this.node.adminToken, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return JSON.parse(answer.text);
  }

  async fetch(
    method: string,
    path: string,
    token: string | null,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://${this.node.http}/api/v1${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await textOf(response);
    requireDescribed(method, path, response, text);
    return { status: response.status, text };
  }

  async user(userId: UserId, role: Role | null): Promise<void> {
    const user = { userId, name: userId, role, passwordHash: "", createdAt: 1, disabled: false };
    await this.context.stores.identity.createUser(user);
  }

  /** A token of a user. `within`: the only projects in which it counts. */
  async token(
    subject: UserId,
    scopes: readonly string[] = [],
    within: Pick<TokenRequest, "projects"> = {},
  ): Promise<string> {
    return issueToken(this.context, { kind: "personal", subject, name: "test", scopes, ...within });
  }

  /** A new user with a role in the installation, or with roles in these areas. */
  async userToken(role: Role | null, bound: readonly (readonly [Area, Role])[] = []): Promise<string> {
    const userId = newId("usr");
    await this.user(userId, role);
    for (const [area, given] of bound) {
      await this.context.stores.rights.bind({ subjectId: userId, area, role: given, createdAt: 1, createdBy: "test" });
    }
    return this.token(userId);
  }

  async keepRemovable(): Promise<void> {
    await this.user(this.removable, "viewer");
  }

  /** An agent that is bound to the project, and a registration token of the tenant. */
  async keepAgent(): Promise<void> {
    const { agentId, tenantId, projectId } = this;
    const reach = { tenantId, projectIds: [projectId] };
    const agent = { agentId, name: agentId, labels: {}, slots: 1, version: "1", createdAt: 1, reach };
    await this.context.stores.identity.putAgent(agent);
    const bound = { tenantId, projectIds: null };
    const token = { kind: "registration", subject: "test", name: "t", reach: bound } as const;
    this.registrationTokenId = tokenIdOf(await issueToken(this.context, token));
  }

  async keepTenant(): Promise<void> {
    await this.context.stores.rights.changeTenant(this.tenantId, { archivedAt: null });
  }

  async keepTeam(): Promise<void> {
    const { teamId, tenantId, victim } = this;
    await this.context.stores.rights.createTeam({ teamId, tenantId, name: teamId, createdAt: 1 });
    await this.context.stores.rights.addToTeam(teamId, victim);
  }

  async keepMembers(): Promise<void> {
    const { tenantId, projectId, victim } = this;
    for (const area of [{ tenantId }, { projectId }]) {
      const binding = { subjectId: victim, area, role: "viewer", createdAt: 1, createdBy: "test" } as const;
      await this.context.stores.rights.bind(binding);
    }
  }

  /** Users who have not accepted their invitations, one into the tenant and one into the project. */
  async keepInvited(): Promise<void> {
    for (const [userId, area] of [
      [this.invited, { tenantId: this.tenantId }],
      [this.projectInvited, { projectId: this.projectId }],
    ] as const) {
      await this.user(userId, null);
      await this.context.stores.rights.bind({
        subjectId: userId,
        area,
        role: "viewer",
        createdAt: 1,
        createdBy: "test",
      });
    }
  }

  async keepBots(): Promise<void> {
    const { tenantId, projectId, bot, tenantBot } = this;
    for (const [userId, ownedBy] of [[bot, { projectId }] as const, [tenantBot, { tenantId }] as const]) {
      const account = { userId, name: userId, role: null, passwordHash: "", createdAt: 1, disabled: false, ownedBy };
      await this.context.stores.identity.createUser(account);
    }
    this.botToken = tokenIdOf(await this.token(bot));
    this.tenantBotToken = tokenIdOf(await this.token(tenantBot));
  }

  async keepPipeline(): Promise<void> {
    const { projectId, removablePipeline } = this;
    await this.context.stores.pipelines.create(pipelineRecord(removablePipeline, { projectId }));
  }

  async keepSecrets(): Promise<void> {
    const { projectId } = this;
    for (const pipelineId of [null, this.pipelineId]) {
      for (const name of ["KEPT", "GONE"]) {
        await this.context.secrets.create({ projectId, pipelineId, name }, "a long value", "test");
      }
    }
  }

  async keepVariables(): Promise<void> {
    for (const owner of [`/tenants/${this.tenantId}`, `/projects/${this.projectId}`]) {
      await this.call("PUT", `${owner}/variables/V`, { value: "v" });
    }
  }

  /** Each owner has one webhook, and that of the project has had a delivery. */
  async keepWebhooks(): Promise<void> {
    const { documents, deliveries } = this.context.stores;
    for (const [area, id] of [
      [{ tenantId: this.tenantId }, "whk_tenant"],
      [{ projectId: this.projectId }, "whk_project"],
    ] as const) {
      const owner = ownerOf(area);
      const webhookId = asId<WebhookId>(id);
      const content = JSON.stringify({ url: "http://127.0.0.1:9/", secret: "whsec_AAAA", earlier: null });
      const webhook: Webhook = {
        webhookId,
        description: "",
        address: "http://127.0.0.1:9/",
        types: ["none"],
        ordered: false,
        disabled: null,
        since: 1,
        failingSince: null,
        earlierUntil: null,
        createdAt: 1,
        createdBy: "test",
        updatedAt: 1,
        ...(await this.context.secrets.sealOwn(webhookId, content)),
      };
      const [stored] = await documents.find("webhooks", [owner]);
      const version = (stored?.version ?? 0) + 1;
      await documents.save({ kind: "webhooks", owner, version, body: { webhooks: [webhook] } });
      const { tenantId, projectId, runId } = this;
      const ended = {
        deliveryId: asId<DeliveryId>(id.replace("whk", "msg")),
        state: "failed",
        dueAt: Number.MAX_SAFE_INTEGER,
      } as const;
      await deliveries.drop({ lane: webhookId }, 100);
      await deliveries.tell([deliveryOf(webhookId, { tenantId, projectId, runId, ...ended })], []);
    }
  }

  /** The project has one hook, which has had a delivery. */
  async keepHook(): Promise<void> {
    const { hooks } = this.context.stores;
    const { projectId } = this;
    // The runner removes the deliveries of a hook that is gone.
    for (const { hookId } of await hooks.list(projectId)) if (hookId !== "hook_kept") await hooks.delete(hookId);
    const hook = hookOf({ hookId: asId<HookId>("hook_kept"), projectId, kind: "generic", proof: "none", secret: null });
    await hooks.create(hook);
    const deliveryId = asId<DeliveryId>("hdl_kept");
    await hooks.removeDelivery(deliveryId);
    await hooks.take(receivedOf(hook, { deliveryId, state: "done", dueAt: Number.MAX_SAFE_INTEGER }), "{}");
  }

  async keepNotification(): Promise<void> {
    const { deliveries } = this.context.stores;
    const { tenantId, projectId, runId, pipelineId } = this;
    const lane = notificationLane(projectId, "email ann@mail.example");
    const record: NotificationRecord = {
      on: "failure",
      channel: "email",
      job: null,
      pipelineId,
      message: { to: ["ann@mail.example"] },
      late: [],
      secrets: [],
      problem: "",
      subject: "failed",
      text: "failed",
      event: {},
      wait: null,
    };
    const ended = {
      deliveryId: asId<DeliveryId>("msg_told"),
      body: JSON.stringify(record),
      state: "failed",
      dueAt: Number.MAX_SAFE_INTEGER,
    } as const;
    await deliveries.drop({ lane }, 100);
    await deliveries.tell([deliveryOf(lane, { tenantId, projectId, runId, ...ended })], []);
  }

  async keepArtifact(): Promise<void> {
    const { artifacts, blobs } = this.context.stores;
    const { artifactId, runId, stepRunId } = this;
    const sha256 = createHash("sha256").update(CONTENT).digest("hex");
    const now = this.context.clock.now();
    const record = {
      artifactId,
      runId,
      stepRunId,
      token: 1,
      name: "a",
      state: "uploading",
      sizeBytes: 1,
      fileCount: 1,
      createdAt: now,
      storedAt: null,
      expiresAt: now + 3_600_000,
      files: [{ path: "a.txt", sizeBytes: 1, sha256, mode: 0o644 }],
    } as const;
    await artifacts.begin(record as never, 1e9);
    await blobs.put(artifactId, 0, CONTENT);
    await blobs.complete(artifactId, 1);
    await artifacts.store(artifactId, now, now + 3_600_000);
  }

  async keepPlugins(): Promise<void> {
    const { plugins } = this.context.stores;
    for (const owner of [ownerOf({ tenantId: this.tenantId }), ownerOf({ projectId: this.projectId })]) {
      const record = {
        owner,
        name: "team/owned",
        version: "1.0.0",
        packageId: newId("pkg"),
        sha256: "a".repeat(64),
        sizeBytes: 1,
        state: "storing",
        createdAt: 1,
        createdBy: "test",
        manifest: JSON.stringify({
          name: "team/owned",
          version: "1.0.0",
          description: "",
          actions: {},
          defaultAction: null,
          platforms: [],
        }),
      } as const;
      await plugins.store(await plugins.begin(record));
    }
  }

  async keepCache(): Promise<void> {
    const { caches } = this.context.stores;
    const { cacheId, projectId, runId } = this;
    const now = this.context.clock.now();
    const entry = { cacheId, projectId, key: "k", version: "v", runId, blobId: "blob_rights" } as const;
    const state = {
      state: "uploading",
      sizeBytes: 1,
      sha256: "",
      createdAt: now,
      usedAt: now,
      expiresAt: now,
    } as const;
    await caches.begin({ ...entry, ...state });
    await caches.store(entry, now, now + 3_600_000);
  }

  async keepUpload(): Promise<void> {
    const { uploads } = this.context.stores;
    const { uploadId, projectId } = this;
    const now = this.context.clock.now();
    const content = { sizeBytes: 0, sha256: "", sniffedType: null, typeMatches: true };
    const times = { createdAt: now, usedAt: now, expiresAt: now + 3_600_000 };
    const file = { name: "a.txt", type: "text/plain", createdBy: "someone", writer: "w" };
    if ((await uploads.find(uploadId)) !== undefined) return;
    await uploads.begin({ uploadId, projectId, state: "uploading", ...file, ...content, ...times });
    await uploads.store({ uploadId, writer: "w" }, content, now, now + 3_600_000);
  }
}

/** Throws when an answer is not as the description of the API says. */
export function requireDescribed(method: string, path: string, { status, headers }: Response, text: string): void {
  const type = headers.get("content-type") ?? "";
  if (type === "text/event-stream") return;
  const body: unknown = type.startsWith("application/json") && text !== "" ? JSON.parse(text) : undefined;
  const problem = problemOfAnswer(method, `/api/v1${path}`, { status, type, body });
  if (problem !== undefined) throw new Error(problem);
}

/** The answer, of a stream that does not end the part with its first objects. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text();
  let text = "";
  for await (const bytes of response.body!) {
    text += Buffer.from(bytes).toString("utf8");
    if (/^event: (snapshotDone|caughtUp|ended)$/m.test(text)) break;
  }
  return text;
}
