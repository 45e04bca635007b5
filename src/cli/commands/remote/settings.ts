/** `millrace settings`: the settings that change while the installation runs, of the installation, a tenant or a project. */
import type { MillraceClient, Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { type Owner, ownerOf, type OwnerOptions } from "../../remote/owner-option.ts";
import { withServer } from "../../remote/session.ts";

type Settings = Schemas["Settings"];
type Values = Readonly<Record<string, unknown>>;

export function listSettings(options: OwnerOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { detail } = await read(client, await ownerOf(client, options), signal);
    report.list(
      detail.settings,
      [
        { title: "name", text: ({ name }) => name },
        { title: "value", text: ({ value }) => shown(value) },
        { title: "from", text: ({ source }) => source },
        { title: "own", text: ({ own }) => (own ? "yes" : "") },
      ],
      "no settings",
    );
  });
}

/** Gives a setting a value, or, with undefined, takes the owner's own value away. */
export function changeSetting(
  name: string,
  value: string | undefined,
  options: OwnerOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const owner = await ownerOf(client, options);
    const { detail, etag } = await read(client, owner, signal);
    const { settings } = detail;
    if (!settings.some((one) => one.name === name)) {
      const names = settings.map((one) => one.name).join(", ");
      throw new UsageError(`there is no setting ${JSON.stringify(name)}: the settings are ${names}`);
    }
    const others = settings.filter((one) => one.own && one.name !== name).map((one) => [one.name, one.value] as const);
    const values: Values = Object.fromEntries(
      value === undefined ? others : [...others, [name, parseValue(value)] as const],
    );
    // Another change of the same settings meanwhile is not lost: this one is refused then.
    const changed = await write(client, owner, values, etag, signal);
    const { value: counts, source } = changed.settings.find((one) => one.name === name)!;
    report.object(changed, `${name} is ${shown(counts)}, from the level ${source}`);
  });
}

async function read(client: MillraceClient, owner: Owner | undefined, signal: AbortSignal) {
  if (owner === undefined) return client.getTagged("/settings", { signal });
  return "projectId" in owner
    ? client.getTagged("/projects/{projectId}/settings", { path: owner, signal })
    : client.getTagged("/tenants/{tenantId}/settings", { path: owner, signal });
}

async function write(
  client: MillraceClient,
  owner: Owner | undefined,
  values: Values,
  ifMatch: string | undefined,
  signal: AbortSignal,
): Promise<Settings> {
  const call = { body: { values }, ...(ifMatch === undefined ? {} : { ifMatch }), signal };
  if (owner === undefined) return client.put("/settings", call);
  return "projectId" in owner
    ? client.put("/projects/{projectId}/settings", { ...call, path: owner })
    : client.put("/tenants/{tenantId}/settings", { ...call, path: owner });
}

/** JSON where it is JSON, else a text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
