/** Routes of the settings that change while the installation runs. */
import type { Caller } from "../../app/identity/access.ts";
import {
  getSettings,
  setSettings,
  settingsBody,
  type SettingsOwner,
  SettingsShape,
} from "../../app/upkeep/settings.ts";
import type { ClusterContext } from "../../app/upkeep/cluster.ts";
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { routesFor } from "../route.ts";

const route = routesFor<ClusterContext>("Settings");
type Params = Readonly<Record<string, string | undefined>>;

export const SETTING_ROUTES = [
  ...routesOf("/settings", "Installation", "the installation", () => "installation"),
  ...routesOf("/tenants/:tenantId/settings", "Tenant", "a tenant", ({ tenantId }) => ({
    tenantId: asId<TenantId>(tenantId!),
  })),
  ...routesOf("/projects/:projectId/settings", "Project", "a project", ({ projectId }) => ({
    projectId: asId<ProjectId>(projectId!),
  })),
];

function routesOf(path: string, word: string, whose: string, ownerOf: (params: Params) => SettingsOwner) {
  /** What the owner has itself can be changed. */
  const tagged = ({ settings }: { readonly settings: readonly { readonly own: boolean }[] }) =>
    settings.filter(({ own }) => own);
  const read = (context: ClusterContext, { caller, params }: { readonly caller: Caller; readonly params: object }) =>
    getSettings(context, caller, { owner: ownerOf(params as Params) });
  return [
    route({
      method: "GET",
      path,
      name: `get${word}Settings`,
      about: `Reads the settings of ${whose}, each with the level that its value comes from.`,
      answer: SettingsShape,
      errors: ["not_found"],
      tagged,
      handle: read,
    }),
    route({
      method: "PUT",
      path,
      name: `set${word}Settings`,
      about: `Replaces the values that ${whose} has itself.`,
      body: settingsBody,
      answer: SettingsShape,
      errors: ["not_found", "conflict"],
      tagged,
      changes: { tagged },
      handle: (context, { caller, params, body, match }) =>
        setSettings(context, caller, { ...body, owner: ownerOf(params as Params), match }),
    }),
  ];
}
