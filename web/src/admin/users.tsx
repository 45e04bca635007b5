/** The users of the installation: invitations, roles, links for new passwords. */
import { useState } from "preact/hooks";
import { session } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { ROLES } from "../areas/members.tsx";
import { Button } from "../parts/button.tsx";
import { copyText } from "../parts/copy.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.users;
type User = Schemas["User"];
type Role = NonNullable<User["role"]>;
type Link = Schemas["OneTimeLink"];

const ROLE_OPTIONS = [["", texts.noRoleOption], ...ROLES] as const;
const roleOf = (word: string | undefined): Role | null => ROLES.find(([role]) => role === word)?.[0] ?? null;

type Open =
  | { readonly kind: "invite" }
  | { readonly kind: "change" | "disable" | "reset" | "remove"; readonly user: User }
  | { readonly kind: "link"; readonly link: Link };

export function Users() {
  const users = usePages(
    (after, signal) =>
      api.get("/users", { query: { pageSize: 100, ...(after === undefined ? {} : { after }) }, signal }),
    [],
  );
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const close = () => setOpen((now) => (now?.kind === "link" ? now : undefined));
  const change = async (userId: string, body: { readonly disabled?: boolean; readonly role?: Role | null }) => {
    await api.patch("/users/{userId}", { path: { userId }, body });
    tell(texts.saved);
    users.reload();
  };
  const columns: readonly Column<User>[] = [
    {
      name: texts.name,
      cell: ({ userId, name, email, ownedBy }) => (
        <>
          {name}
          {userId === session.value?.user.userId ? ` (${texts.you})` : null}
          {ownedBy === undefined ? null : <Under>{areaWords.members.kinds.serviceAccount}</Under>}
          {email === undefined || email === "" ? null : <Under>{email}</Under>}
        </>
      ),
    },
    {
      name: texts.role,
      width: "170px",
      narrow: "100px",
      cell: ({ role }) => (role === null ? texts.noRole : areaWords.members.roles[role]),
    },
    {
      name: texts.state,
      width: "130px",
      needs: "wide",
      cell: ({ disabled, hasPassword, ownedBy }) =>
        disabled ? (
          <strong>{texts.disabled}</strong>
        ) : hasPassword || ownedBy !== undefined ? (
          texts.active
        ) : (
          <span class={styles["quiet"]}>{texts.noPassword}</span>
        ),
    },
    { name: texts.since, width: "104px", needs: "medium", align: "end", cell: (user) => <Ago at={user.createdAt} /> },
    {
      name: texts.change,
      isQuiet: true,
      width: "300px",
      narrow: "110px",
      align: "end",
      cell: (user) => (
        <span class={styles["buttons"]} role="group" aria-label={texts.actions(user.name)}>
          <Button onClick={() => setOpen({ kind: "change", user })}>{texts.change}</Button>
          {user.ownedBy === undefined ? (
            <Button onClick={() => setOpen({ kind: "reset", user })}>{texts.reset}</Button>
          ) : null}
          {user.disabled ? (
            <Button onClick={() => change(user.userId, { disabled: false })}>{texts.enable}</Button>
          ) : (
            <Button onClick={() => setOpen({ kind: "disable", user })}>{texts.disable}</Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <Section
      title={areaWords.tabs.users}
      aside={
        <Button kind="primary" onClick={() => setOpen({ kind: "invite" })}>
          {texts.invite}
        </Button>
      }
    >
      <Loaded of={users.pages}>
        {() => (
          <Table
            label={areaWords.tabs.users}
            rows={users.list}
            columns={columns}
            keyOf={({ userId }) => userId}
            stateOf={({ disabled }) => (disabled ? "faint" : undefined)}
          />
        )}
      </Loaded>
      <MoreButton of={users} />
      {open?.kind === "invite" ? (
        <FormDialog
          title={texts.invite}
          about={texts.inviteText}
          save={texts.invite}
          fields={[
            { name: "name", label: texts.name, isRequired: true },
            { name: "role", label: texts.role, kind: "select", value: "viewer", options: ROLES },
            { name: "email", label: texts.email, hint: texts.emailHint },
            { name: "days", label: texts.days, kind: "number", value: "7" },
          ]}
          onClose={close}
          onSave={async ({ name = "", role, email = "", days = "" }) => {
            const body = {
              name: name.trim(),
              role: roleOf(role),
              ...(email.trim() === "" ? {} : { email: email.trim() }),
              ...(days.trim() === "" ? {} : { days: Number(days) }),
            };
            setOpen({ kind: "link", link: await api.post("/invitations", { body }) });
            users.reload();
          }}
        />
      ) : null}
      {open?.kind === "change" ? (
        <ChangeUser
          user={open.user}
          onClose={close}
          onRemove={() => setOpen({ kind: "remove", user: open.user })}
          onDone={users.reload}
        />
      ) : null}
      {open?.kind === "disable" ? (
        <ConfirmDialog
          title={texts.disableTitle(open.user.name)}
          text={texts.disableText}
          action={texts.disable}
          onClose={close}
          onConfirm={() => change(open.user.userId, { disabled: true })}
        />
      ) : null}
      {open?.kind === "reset" ? (
        <ConfirmDialog
          title={texts.resetTitle(open.user.name)}
          text={texts.resetText}
          action={texts.reset}
          onClose={close}
          onConfirm={async () => {
            const path = { userId: open.user.userId };
            setOpen({ kind: "link", link: await api.post("/users/{userId}/reset-link", { path, body: {} }) });
          }}
        />
      ) : null}
      {open?.kind === "remove" ? (
        <ConfirmDialog
          title={texts.removeTitle(open.user.name)}
          text={texts.removeText}
          action={texts.remove}
          onClose={close}
          onConfirm={async () => {
            await api.delete("/users/{userId}", { path: { userId: open.user.userId } });
            tell(texts.removed);
            users.reload();
          }}
        />
      ) : null}
      {open?.kind === "link" ? <LinkDialog link={open.link} onClose={() => setOpen(undefined)} /> : null}
    </Section>
  );
}

function ChangeUser({
  user,
  onClose,
  onRemove,
  onDone,
}: {
  readonly user: User;
  readonly onClose: () => void;
  readonly onRemove: () => void;
  readonly onDone: () => void;
}) {
  const path = { userId: user.userId };
  const isPerson = user.ownedBy === undefined;
  return (
    <FormDialog
      title={texts.changeTitle(user.name)}
      about={
        <span class={styles["buttons"]}>
          {isPerson ? (
            <Button
              onClick={async () => {
                await api.delete("/users/{userId}/logins", { path });
                tell(texts.ended);
              }}
            >
              {texts.endLogins}
            </Button>
          ) : null}
          <Button onClick={onRemove}>{texts.remove}</Button>
        </span>
      }
      save={words.actions.save}
      fields={[
        { name: "role", label: texts.role, kind: "select", value: user.role ?? "", options: ROLE_OPTIONS },
        ...(isPerson ? [{ name: "email", label: texts.email, value: user.email ?? "" }] : []),
      ]}
      onClose={onClose}
      onSave={async ({ role, email = "" }) => {
        const body = {
          ...(roleOf(role) === user.role ? {} : { role: roleOf(role) }),
          ...(email.trim() === (user.email ?? "") ? {} : { email: email.trim() }),
        };
        if (Object.keys(body).length === 0) return;
        await api.patch("/users/{userId}", { path, body });
        tell(texts.saved);
        onDone();
      }}
    />
  );
}

function LinkDialog({ link, onClose }: { readonly link: Link; readonly onClose: () => void }) {
  return (
    <Dialog
      title={texts.linkTitle(link.user.name)}
      onClose={onClose}
      actions={<Button onClick={() => copyText(link.link)}>{words.actions.copy}</Button>}
    >
      <p class={styles["about"]}>
        {texts.linkText} <Ago at={link.expiresAt} />
      </p>
      <code class={styles["secret"]}>{link.link}</code>
    </Dialog>
  );
}
