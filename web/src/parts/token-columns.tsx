/** What tables of all kinds of tokens have: when each expires, and how one is deleted. */
import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { ConfirmDialog } from "./form-dialog.tsx";
import type { Column } from "./table.tsx";
import { Ago } from "./time.tsx";
import { tokenWords } from "./token-words.ts";

const texts = tokenWords;

export function expiryColumn<T extends { readonly expiresAt: string | null }>(needs?: "wide"): Column<T> {
  return {
    name: texts.expires,
    width: "110px",
    ...(needs && { needs }),
    align: "end",
    cell: ({ expiresAt }) => (expiresAt === null ? texts.never : <Ago at={expiresAt} />),
  };
}

/** The column with the buttons, and the dialog that asks before a token is deleted. `text`: what its end means. */
export function useTokenRemoval<T extends { readonly name: string }>(
  text: string,
  onRemove: (token: T) => Promise<unknown>,
): { readonly column: Column<T>; readonly dialog: ComponentChild } {
  const [removing, setRemoving] = useState<T | undefined>(undefined);
  const column: Column<T> = {
    name: texts.remove,
    isQuiet: true,
    width: "98px",
    align: "end",
    cell: (token) => <Button onClick={() => setRemoving(token)}>{texts.remove}</Button>,
  };
  const dialog =
    removing === undefined ? null : (
      <ConfirmDialog
        title={texts.removeTitle(removing.name)}
        text={text}
        action={texts.remove}
        onClose={() => setRemoving(undefined)}
        onConfirm={() => onRemove(removing)}
      />
    );
  return { column, dialog };
}
