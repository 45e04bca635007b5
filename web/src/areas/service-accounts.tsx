/** The service accounts of a project or a tenant, with their tokens. */
import { useState } from "preact/hooks";
import bot from "lucide-static/icons/bot.svg?raw";
import { session } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { NewTokenDialog, TokenTable } from "../parts/tokens.tsx";
import { tokenWords } from "../parts/token-words.ts";
import {
  createAccount,
  createToken,
  deleteAccount,
  deleteToken,
  listAccounts,
  listTokens,
  type Owner,
} from "./account-calls.ts";
import { areaWords } from "./area-words.ts";
import styles from "./areas.module.css";
import { RoleDialog } from "./role-dialog.tsx";

const texts = areaWords.accounts;
type Account = Schemas["User"];

interface Open {
  readonly kind: "tokens" | "newToken" | "role" | "disable" | "remove";
  readonly account: Account;
}

export function ServiceAccounts({ owner }: { readonly owner: Owner }) {
  const accounts = usePages((after, signal) => listAccounts(owner, after, signal), [owner]);
  const [isMaking, setMaking] = useState(false);
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const close = () => setOpen(undefined);
  // The state of an account is changed by administrators of the installation alone.
  const mayDisable = session.value?.operations.includes("manageUsers") ?? false;
  const disable = async (userId: string, disabled: boolean) => {
    await api.patch("/users/{userId}", { path: { userId }, body: { disabled } });
    tell(texts.changed);
    accounts.reload();
  };
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {texts.make}
    </Button>
  );
  const columns: readonly Column<Account>[] = [
    { name: texts.name, cell: ({ name }) => name },
    {
      name: texts.state,
      width: "110px",
      needs: "wide",
      cell: ({ disabled }) => (disabled ? <strong>{texts.disabled}</strong> : texts.active),
    },
    { name: texts.since, width: "104px", needs: "medium", align: "end", cell: (one) => <Ago at={one.createdAt} /> },
    {
      name: texts.actions,
      isQuiet: true,
      width: mayDisable ? "400px" : "300px",
      narrow: "120px",
      align: "end",
      cell: (account) => (
        <span class={styles["buttons"]} role="group" aria-label={texts.actionsOf(account.name)}>
          <Button onClick={() => setOpen({ kind: "tokens", account })}>{tokenWords.title}</Button>
          <Button onClick={() => setOpen({ kind: "role", account })}>{areaWords.members.give}</Button>
          {mayDisable ? (
            account.disabled ? (
              <Button onClick={() => disable(account.userId, false)}>{texts.enable}</Button>
            ) : (
              <Button onClick={() => setOpen({ kind: "disable", account })}>{texts.disable}</Button>
            )
          ) : null}
          <Button onClick={() => setOpen({ kind: "remove", account })}>{texts.remove}</Button>
        </span>
      ),
    },
  ];
  return (
    <Section title={areaWords.tabs.accounts} aside={make}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={accounts.pages}>
        {() =>
          accounts.list.length === 0 ? (
            <Blank icon={bot} title={texts.none} actions={make}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table
              label={areaWords.tabs.accounts}
              rows={accounts.list}
              columns={columns}
              keyOf={({ userId }) => userId}
              stateOf={({ disabled }) => (disabled ? "faint" : undefined)}
            />
          )
        }
      </Loaded>
      <MoreButton of={accounts} />
      {isMaking ? (
        <FormDialog
          title={texts.make}
          about={texts.makeText}
          save={texts.create}
          fields={[{ name: "name", label: texts.name, isRequired: true }]}
          onClose={() => setMaking(false)}
          onSave={async ({ name = "" }) => {
            await createAccount(owner, name.trim());
            accounts.reload();
          }}
        />
      ) : null}
      {open?.kind === "tokens" ? (
        <Tokens
          owner={owner}
          account={open.account}
          onNew={() => setOpen({ kind: "newToken", account: open.account })}
          onClose={close}
        />
      ) : null}
      {open?.kind === "newToken" ? (
        <NewTokenDialog
          onCreate={async (body) => (await createToken(owner, open.account.userId, body)).token}
          onClose={() => setOpen({ kind: "tokens", account: open.account })}
        />
      ) : null}
      {open?.kind === "role" ? (
        <RoleDialog area={owner} member={open.account.userId} name={open.account.name} onClose={close} />
      ) : null}
      {open?.kind === "disable" ? (
        <ConfirmDialog
          title={texts.disableTitle(open.account.name)}
          text={texts.disableText}
          action={texts.disable}
          onClose={close}
          onConfirm={() => disable(open.account.userId, true)}
        />
      ) : null}
      {open?.kind === "remove" ? (
        <ConfirmDialog
          title={texts.removeTitle(open.account.name)}
          text={texts.removeText}
          action={texts.remove}
          onClose={close}
          onConfirm={async () => {
            await deleteAccount(owner, open.account.userId);
            tell(texts.removed);
            accounts.reload();
          }}
        />
      ) : null}
    </Section>
  );
}

function Tokens({
  owner,
  account: { userId, name },
  onNew,
  onClose,
}: {
  readonly owner: Owner;
  readonly account: Account;
  readonly onNew: () => void;
  readonly onClose: () => void;
}) {
  const tokens = useResource((signal) => listTokens(owner, userId, signal), [userId]);
  return (
    <Dialog
      title={texts.tokensOf(name)}
      wide
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onNew}>
          {tokenWords.make}
        </Button>
      }
    >
      <Loaded of={tokens} rows={2}>
        {({ list }) =>
          list.length === 0 ? (
            <p class={styles["quiet"]}>{texts.noTokens}</p>
          ) : (
            <TokenTable
              list={list}
              onRemove={async ({ tokenId }) => {
                await deleteToken(owner, userId, tokenId);
                tell(tokenWords.removed);
                tokens.reload();
              }}
            />
          )
        }
      </Loaded>
    </Dialog>
  );
}
