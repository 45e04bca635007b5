/** The teams of a tenant. A team gets roles as a member does, and all who are in it have them. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import users from "lucide-static/icons/users.svg?raw";
import { mayIn } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { RoleDialog } from "../areas/role-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowLink, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.teams;
type Team = Schemas["Team"];
type InTeam = Schemas["TeamDetails"]["members"][number];

export function Teams({ tenantId }: { readonly tenantId: string }) {
  const path = { tenantId };
  const { route } = useLocation();
  const [isMaking, setMaking] = useState(false);
  const teams = usePages(
    (after, signal) =>
      api.get("/tenants/{tenantId}/teams", {
        path,
        query: { pageSize: 100, ...(after === undefined ? {} : { after }) },
        signal,
      }),
    [tenantId],
  );
  const at = (teamId: string) => `/admin/tenants/${tenantId}/teams/${teamId}`;
  const columns: readonly Column<Team>[] = [
    { name: texts.name, cell: ({ teamId, name }) => <RowLink href={at(teamId)}>{name}</RowLink> },
    { name: texts.since, width: "110px", align: "end", cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
  const make = mayIn("manageTeams", path) ? (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {texts.make}
    </Button>
  ) : undefined;
  return (
    <Section title={areaWords.tabs.teams} aside={make}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={teams.pages}>
        {() =>
          teams.list.length === 0 ? (
            <Blank icon={users} title={texts.none} actions={make}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table label={areaWords.tabs.teams} rows={teams.list} columns={columns} keyOf={({ teamId }) => teamId} />
          )
        }
      </Loaded>
      <MoreButton of={teams} />
      {isMaking ? (
        <FormDialog
          title={texts.make}
          save={texts.make}
          fields={[{ name: "name", label: texts.name, isRequired: true }]}
          onClose={() => setMaking(false)}
          onSave={async ({ name = "" }) => {
            const { teamId } = await api.post("/tenants/{tenantId}/teams", { path, body: { name: name.trim() } });
            route(at(teamId));
          }}
        />
      ) : null}
    </Section>
  );
}

type Open =
  | { readonly kind: "add" | "role" | "rename" | "remove" }
  | { readonly kind: "takeOut"; readonly member: InTeam };

export function TeamPart({ tenantId, teamId }: { readonly tenantId: string; readonly teamId: string }) {
  const path = { tenantId, teamId };
  const { route } = useLocation();
  const team = useResource((signal) => api.get("/tenants/{tenantId}/teams/{teamId}", { path, signal }), [teamId]);
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const close = () => setOpen(undefined);
  const mayChange = mayIn("manageTeams", { tenantId });
  const columns: readonly Column<InTeam>[] = [
    { name: texts.name, cell: ({ name }) => name },
    {
      name: texts.takeOut,
      isQuiet: true,
      width: "120px",
      align: "end",
      cell: (member) =>
        mayChange ? <Button onClick={() => setOpen({ kind: "takeOut", member })}>{texts.takeOut}</Button> : null,
    },
  ];
  const add = mayChange ? (
    <Button kind="primary" onClick={() => setOpen({ kind: "add" })}>
      {texts.add}
    </Button>
  ) : undefined;
  return (
    <Loaded of={team} rows={3}>
      {({ name, members }) => (
        <Section
          title={name}
          aside={
            mayChange ? (
              <span class={styles["buttons"]}>
                {add}
                <Button onClick={() => setOpen({ kind: "role" })}>{areaWords.members.give}</Button>
                <Button onClick={() => setOpen({ kind: "rename" })}>{texts.rename}</Button>
                <Button onClick={() => setOpen({ kind: "remove" })}>{texts.remove}</Button>
              </span>
            ) : undefined
          }
        >
          {members.length === 0 ? (
            <Blank icon={users} title={texts.empty} actions={add}>
              {texts.emptyText}
            </Blank>
          ) : (
            <Table label={texts.inTeam(name)} rows={members} columns={columns} keyOf={({ userId }) => userId} />
          )}
          {open?.kind === "add" ? (
            <FormDialog
              title={texts.add}
              save={texts.add}
              fields={[{ name: "member", label: texts.name, isRequired: true, hint: texts.addHint }]}
              onClose={close}
              onSave={async ({ member = "" }) => {
                await api.put("/tenants/{tenantId}/teams/{teamId}/members/{member}", {
                  path: { ...path, member: member.trim() },
                });
                tell(texts.added);
                team.reload();
              }}
            />
          ) : null}
          {open?.kind === "role" ? (
            <RoleDialog area={{ kind: "tenant", tenantId }} member={teamId} name={name} onClose={close} />
          ) : null}
          {open?.kind === "rename" ? (
            <FormDialog
              title={texts.rename}
              save={texts.rename}
              fields={[{ name: "name", label: texts.name, isRequired: true, value: name }]}
              onClose={close}
              onSave={async (values) => {
                const body = { name: values["name"]?.trim() ?? "" };
                await api.patch("/tenants/{tenantId}/teams/{teamId}", { path, body });
                team.reload();
              }}
            />
          ) : null}
          {open?.kind === "takeOut" ? (
            <ConfirmDialog
              title={texts.takeOutTitle(open.member.name)}
              text={texts.takeOutText}
              action={texts.takeOut}
              onClose={close}
              onConfirm={async () => {
                await api.delete("/tenants/{tenantId}/teams/{teamId}/members/{member}", {
                  path: { ...path, member: open.member.userId },
                });
                tell(texts.takenOut);
                team.reload();
              }}
            />
          ) : null}
          {open?.kind === "remove" ? (
            <ConfirmDialog
              title={texts.removeTitle(name)}
              text={texts.removeText}
              action={texts.remove}
              onClose={close}
              onConfirm={async () => {
                await api.delete("/tenants/{tenantId}/teams/{teamId}", { path });
                tell(texts.removed);
                route(`/admin/tenants/${tenantId}/teams`);
              }}
            />
          ) : null}
        </Section>
      )}
    </Loaded>
  );
}
