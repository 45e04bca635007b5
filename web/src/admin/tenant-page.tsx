/** One tenant: members, teams, service accounts, variables, settings and webhooks that count in all its projects. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import searchX from "lucide-static/icons/search-x.svg?raw";
import { mayIn } from "../app/session.ts";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { addressOf, type Area, mayHere } from "../areas/area.ts";
import { AreaPart } from "../areas/area-part.tsx";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { tell } from "../parts/toast.tsx";
import { adminWords } from "./admin-words.ts";
import { TeamPart, Teams } from "./teams.tsx";

const texts = adminWords.tenants;
const { tabs } = areaWords;
const PARTS = ["members", "teams", "accounts", "variables", "settings", "webhooks"] as const;

export function TenantPage({
  tenantId,
  part = "members",
  item,
}: {
  readonly tenantId: string;
  readonly part?: string | undefined;
  readonly item?: string | undefined;
}) {
  const { route } = useLocation();
  const path = { tenantId };
  const tenant = useResource((signal) => api.get("/tenants/{tenantId}", { path, signal }), [tenantId]);
  const [open, setOpen] = useState<"change" | "remove" | undefined>(undefined);
  const close = () => setOpen(undefined);
  const area: Area = { kind: "tenant", tenantId };
  const rights = {
    members: mayHere("readMembers", area),
    teams: mayIn("readTenants", area),
    accounts: mayHere("writeMembers", area),
    variables: mayHere("readVariables", area),
    settings: mayHere("readSettings", area),
    webhooks: mayHere("webhooks", area),
  };
  const base = addressOf(area);
  const at = (name: string) => (name === "members" ? base : `${base}/${name}`);
  const known = PARTS.find((name) => name === part && rights[name]);
  const { value } = tenant;
  return (
    <Page
      title={value?.name ?? texts.title}
      crumbs={[
        ["/admin", adminWords.title],
        ["/admin/tenants", texts.title],
      ]}
      actions={
        value === undefined ? undefined : (
          <span class={styles["buttons"]}>
            {mayIn("manageTenants", area) ? (
              <>
                <Button onClick={() => setOpen("change")}>{texts.change}</Button>
                <Button
                  onClick={async () => {
                    await api.patch("/tenants/{tenantId}", { path, body: { archived: !value.archived } });
                    tenant.reload();
                  }}
                >
                  {value.archived ? texts.unarchive : texts.archive}
                </Button>
              </>
            ) : null}
            {mayIn("deleteTenants", area) ? <Button onClick={() => setOpen("remove")}>{texts.remove}</Button> : null}
          </span>
        )
      }
    >
      <Loaded of={tenant}>
        {(shown) => (
          <>
            <Tabs
              label={texts.parts}
              of={PARTS.filter((name) => rights[name]).map((name) => [at(name), tabs[name]] as const)}
              here={at(part)}
            />
            {known === undefined ? <Blank icon={searchX} title={areaWords.gone} /> : null}
            <AreaPart name={known} area={area} item={item} />
            {known === "teams" ? (
              item === undefined ? (
                <Teams tenantId={tenantId} />
              ) : (
                <TeamPart tenantId={tenantId} teamId={item} />
              )
            ) : null}
            {open === "change" ? (
              <FormDialog
                title={texts.changeTitle}
                save={texts.change}
                fields={[
                  { name: "name", label: texts.name, isRequired: true, value: shown.name },
                  { name: "slug", label: texts.slug, isRequired: true, value: shown.slug },
                ]}
                onClose={close}
                onSave={async ({ name = "", slug = "" }) => {
                  await api.patch("/tenants/{tenantId}", { path, body: { name: name.trim(), slug: slug.trim() } });
                  tenant.reload();
                }}
              />
            ) : null}
            {open === "remove" ? (
              <ConfirmDialog
                title={texts.removeTitle}
                text={texts.removeText}
                action={texts.remove}
                typed={{ label: texts.typeName(shown.name), text: shown.name }}
                onClose={close}
                onConfirm={async () => {
                  await api.delete("/tenants/{tenantId}", { path });
                  tell(texts.removed);
                  route("/admin/tenants");
                }}
              />
            ) : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}
