/** Tokens of an account, and the dialog that makes one and shows it once. */
import { useRef, useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { words } from "../words.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.ts";
import { Dialog } from "./dialog.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { Table, Under } from "./table.tsx";
import { Ago } from "./time.tsx";
import { tokenWords } from "./token-words.ts";
import styles from "./tokens.module.css";

const texts = tokenWords;
const LIFETIMES = Object.entries(texts.lifetimes);
const SCOPES = Object.entries(texts.scopes);

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
  readonly list: readonly Schemas["Token"][];
  readonly onRemove: (token: Schemas["Token"]) => Promise<unknown>;
}) {
  return (
    <Table
      label={texts.title}
      rows={list}
      keyOf={({ tokenId }) => tokenId}
      columns={[
        {
          name: texts.name,
          cell: ({ name, scopes }) => (
            <>
              {name}
              <Under>{scopes.join(", ")}</Under>
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
        {
          name: texts.expires,
          width: "110px",
          align: "end",
          cell: ({ expiresAt }) => (expiresAt === null ? texts.never : <Ago at={expiresAt} />),
        },
        {
          name: texts.remove,
          isQuiet: true,
          width: "92px",
          align: "end",
          cell: (token) => <Button onClick={() => onRemove(token)}>{texts.remove}</Button>,
        },
      ]}
    />
  );
}

/** `onCreate` answers the token, which the dialog then shows in place of the fields. */
export function NewTokenDialog({
  onCreate,
  onClose,
}: {
  readonly onCreate: (fields: TokenFields) => Promise<string>;
  readonly onClose: () => void;
}) {
  const [made, setMade] = useState<string | undefined>(undefined);
  const isMade = useRef(false);
  if (made === undefined) {
    return (
      <FormDialog
        title={texts.make}
        save={texts.create}
        fields={[
          { name: "name", label: texts.name, isRequired: true },
          { name: "scope", label: texts.scope, kind: "select", value: "", options: SCOPES },
          { name: "expiresIn", label: texts.lasts, kind: "select", value: "90d", options: LIFETIMES },
        ]}
        // A form that was sent closes itself, and the token comes in its place.
        onClose={() => (isMade.current ? undefined : onClose())}
        onSave={async ({ name = "", scope = "", expiresIn = "" }) => {
          const scopes = scope === "" ? {} : { scopes: [scope as Scope] };
          const token = await onCreate({ name: name.trim(), expiresIn, ...scopes });
          isMade.current = true;
          setMade(token);
        }}
      />
    );
  }
  return (
    <Dialog
      title={texts.made}
      onClose={onClose}
      actions={<Button onClick={() => copyText(made)}>{words.actions.copy}</Button>}
    >
      <p class={styles["about"]}>{texts.shownOnce}</p>
      <code class={styles["secret"]}>{made}</code>
    </Dialog>
  );
}
