/** `millrace hooks`: the hooks of a project, and what they have received. */
import type { MillraceClient, Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { findProject, missing } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";
import type { Colour } from "../../screen.ts";

export interface HookOptions extends RemoteOptions {
  readonly project?: string;
}

type Kind = Schemas["Hook"]["kind"];
type Proof = Schemas["Hook"]["proof"];
type State = Schemas["HookDelivery"]["state"];

export function listHooks(options: HookOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = await projectOf(client, options);
    const { list } = await client.get("/projects/{projectId}/hooks", { path, signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "sender", text: ({ kind }) => kind },
        {
          title: "state",
          text: ({ enabled }) => (enabled ? "enabled" : "disabled"),
          colour: ({ enabled }) => (enabled ? "green" : "gray"),
        },
        { title: "proof", text: ({ proof, secret }) => (secret === null ? proof : `${proof} (${secret})`) },
        { title: "path", text: ({ path: called }) => called },
      ],
      "no hooks; `millrace hooks create NAME --kind github --secret NAME` makes one",
    );
  });
}

export interface CreateHookOptions extends HookOptions {
  readonly kind: Kind;
  readonly proof?: Proof;
  readonly secret?: string;
  readonly perMinute?: number;
}

export function createHook(name: string, options: CreateHookOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = await projectOf(client, options);
    const body = { name, kind: options.kind, ...fieldsOf(options) };
    const made = await client.post("/projects/{projectId}/hooks", { path, body, signal });
    report.object(made, `created ${made.name} (${made.hookId})`, `path     ${made.path}`);
  });
}

export function showHook(hook: string, options: HookOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const found = await findHook(client, hook, options);
    const { hookId, name, kind, proof, secret, enabled, perMinute, path, createdAt, createdBy } = found;
    report.object(
      found,
      `${name}  ${kind}  ${enabled ? "enabled" : "disabled"}  (${hookId})`,
      `path     ${path}`,
      `proof    ${secret === null ? proof : `${proof}, with the secret ${secret}`}`,
      `limit    ${perMinute} deliveries a minute`,
      `created  ${createdAt} by ${createdBy}`,
    );
  });
}

export interface UpdateHookOptions extends HookOptions {
  readonly name?: string;
  readonly proof?: Proof;
  readonly secret?: string;
  readonly perMinute?: number;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export function updateHook(hook: string, options: UpdateHookOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { name, enable = false, disable = false } = options;
    if (enable && disable) throw new UsageError("--enable excludes --disable");
    const body = {
      ...(name === undefined ? {} : { name }),
      ...fieldsOf(options),
      ...(enable || disable ? { enabled: enable } : {}),
    };
    if (Object.keys(body).length === 0) throw new UsageError("name what changes, for example --disable");
    const { projectId, hookId } = await findHook(client, hook, options);
    const path = { projectId, hookId };
    const changed = await client.patch("/projects/{projectId}/hooks/{hookId}", { path, body, signal });
    report.object(changed, `changed ${changed.name}: it is ${changed.enabled ? "enabled" : "disabled"}`);
  });
}

export function deleteHook(hook: string, options: HookOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { projectId, hookId, name } = await findHook(client, hook, options);
    await client.delete("/projects/{projectId}/hooks/{hookId}", { path: { projectId, hookId }, signal });
    report.object({ hookId, deleted: true }, `deleted ${name} with its deliveries`);
  });
}

export interface DeliveriesOptions extends HookOptions {
  readonly state?: State;
  readonly limit: number;
}

export function listDeliveries(hook: string, options: DeliveriesOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { projectId, hookId } = await findHook(client, hook, options);
    const { list } = await client.get("/projects/{projectId}/hooks/{hookId}/deliveries", {
      path: { projectId, hookId },
      query: { limit: options.limit, ...(options.state && { state: options.state }) },
      signal,
    });
    report.list(
      list,
      [
        { title: "received", text: ({ receivedAt }) => receivedAt },
        { title: "state", text: ({ state }) => state, colour: ({ state }) => COLOURS[state] },
        { title: "event", text: ({ event, events: [first] }) => first?.event ?? event },
        { title: "ref", text: ({ events: [first] }) => first?.ref ?? "-" },
        { title: "runs", text: ({ runs }) => `${runs.length}` },
        { title: "id", text: ({ deliveryId }) => deliveryId },
        { title: "error", text: ({ error }) => error },
      ],
      "no deliveries",
    );
  });
}

/** What a delivery says, and the verdict of each trigger. */
export function showDelivery(
  hook: string,
  deliveryId: string,
  options: HookOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { projectId, hookId } = await findHook(client, hook, options);
    const path = { projectId, hookId, deliveryId };
    const found = await client.get("/projects/{projectId}/hooks/{hookId}/deliveries/{deliveryId}", { path, signal });
    report.object(found, ...linesOf(found));
  });
}

export function redeliver(
  hook: string,
  deliveryId: string,
  options: HookOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { projectId, hookId } = await findHook(client, hook, options);
    const path = { projectId, hookId, deliveryId };
    const owed = await client.post("/projects/{projectId}/hooks/{hookId}/deliveries/{deliveryId}/redeliver", {
      path,
      body: {},
      signal,
    });
    report.object(owed, `${owed.deliveryId} is processed again`);
  });
}

const COLOURS: Readonly<Record<State, Colour | undefined>> = {
  arriving: undefined,
  owed: "yellow",
  done: "green",
  failed: "red",
};

function linesOf(found: Schemas["HookDelivery"]): readonly string[] {
  const { deliveryId, state, event, events, receivedAt, error, nextTry, verdicts, senderId, bytes } = found;
  return [
    `${deliveryId}  ${state}  ${event}  received ${receivedAt}`,
    `sent as  ${senderId}, ${bytes} bytes`,
    ...events.map(({ event: word, action, ref, sha, actor }) => {
      return `event    ${[word, action, ref, sha, actor === "" ? "" : `by ${actor}`].filter((one) => one !== "").join(" ")}`;
    }),
    ...(error === "" ? [] : [`error    ${error}`]),
    ...(nextTry === null ? [] : [`next     ${nextTry}`]),
    ...(verdicts ?? []).map(({ pipeline, trigger, outcome, text, runId }) => {
      return `verdict  ${pipeline}${trigger === "" ? "" : ` / ${trigger}`}: ${outcome}${text === outcome ? "" : `: ${text}`}${runId === null ? "" : ` ${runId}`}`;
    }),
  ];
}

function fieldsOf({ proof, secret, perMinute }: Pick<UpdateHookOptions, "proof" | "secret" | "perMinute">) {
  return {
    ...(proof === undefined ? {} : { proof }),
    ...(secret === undefined ? {} : { secret }),
    ...(perMinute === undefined ? {} : { perMinute }),
  };
}

async function projectOf(client: MillraceClient, { project }: HookOptions): Promise<{ readonly projectId: string }> {
  if (project === "") throw new UsageError("--project: must not be empty");
  return { projectId: project === undefined ? "default" : (await findProject(client, project)).projectId };
}

/** The hook of the project with that id or name. */
async function findHook(client: MillraceClient, nameOrId: string, options: HookOptions): Promise<Schemas["Hook"]> {
  const path = await projectOf(client, options);
  const { list } = await client.get("/projects/{projectId}/hooks", { path });
  const found = list.find(({ hookId }) => hookId === nameOrId) ?? list.find(({ name }) => name === nameOrId);
  if (found !== undefined) return found;
  throw missing("hook", nameOrId, "millrace hooks");
}
