/** Tokens of an account, and the dialog that makes one and shows it once. */
import type { Schemas } from "../api/client.ts";
import { words } from "../words.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.ts";
import { Dialog } from "./dialog.tsx";
import { ShownOnceDialog } from "./shown-once.tsx";
import { type Column, Table, Under } from "./table.tsx";
import { Ago } from "./time.tsx";
import { expiryColumn, useTokenRemoval } from "./token-columns.tsx";
import { tokenWords } from "./token-words.ts";
import styles from "./tokens.module.css";

const texts = tokenWords;
const LIFETIMES = Object.entries(texts.lifetimes);
const SCOPES = Object.entries(texts.scopes);

type Token = Schemas["Token"];
type Scope = "read" | "trigger" | "write" | "admin";

export interface TokenFields {
  readonly name: string;
  readonly expiresIn: string;
  /** Absent for a token that may do whatever the account may. */
  readonly scopes?: Scope[];
}

export function TokenTable({
  list,
  onRemove,
}: {
  readonly list: readonly Token[];
  readonly onRemove: (token: Token) => Promise<unknown>;
}) {
  const removal = useTokenRemoval<Token>(texts.removeText, onRemove);
  const columns: readonly Column<Token>[] = [
    {
      name: texts.name,
      cell: ({ name, scopes }) => (
        <>
          {name}
          <Under>{scopesText(scopes)}</Under>
        </>
      ),
    },
    {
      name: texts.lastUsed,
      width: "110px",
      needs: "wide",
      align: "end",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? texts.never : <Ago at={lastUsedAt} />),
    },
    expiryColumn(),
    removal.column,
  ];
  return (
    <>
      <Table label={texts.title} rows={list} keyOf={({ tokenId }) => tokenId} columns={columns} />
      {removal.dialog}
    </>
  );
}

function scopesText(scopes: readonly string[]): string {
  if (scopes.length === 0) return texts.mayAll;
  return texts.may(scopes.map((word) => SCOPES.find(([scope]) => scope === word)?.[1] ?? word).join("; "));
}

/** `onCreate` answers the token, which the dialog then shows in place of the fields. */
export function NewTokenDialog({
  onCreate,
  onClose,
}: {
  readonly onCreate: (fields: TokenFields) => Promise<string>;
  readonly onClose: () => void;
}) {
  return (
    <ShownOnceDialog
      title={texts.make}
      save={texts.create}
      fields={[
        { name: "name", label: texts.name, isRequired: true },
        { name: "scope", label: texts.scope, kind: "select", value: "", options: SCOPES },
        { name: "expiresIn", label: texts.lasts, kind: "select", value: "90d", options: LIFETIMES },
      ]}
      onClose={onClose}
      onCreate={({ name = "", scope = "", expiresIn = "" }) => {
        const scopes = scope === "" ? {} : { scopes: [scope as Scope] };
        return onCreate({ name: name.trim(), expiresIn, ...scopes });
      }}
    >
      {(made) => (
        <Dialog
          title={texts.made}
          onClose={onClose}
          actions={<Button onClick={() => copyText(made)}>{words.actions.copy}</Button>}
        >
          <p class={styles["about"]}>{texts.shownOnce}</p>
          <code class={styles["secret"]}>{made}</code>
        </Dialog>
      )}
    </ShownOnceDialog>
  );
}
