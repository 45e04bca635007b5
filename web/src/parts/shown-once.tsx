/** A form whose answer is shown once, in place of its fields: a token that no later answer shows. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { FormDialog, type FormDialogProps, type Values } from "./form-dialog.tsx";

export function ShownOnceDialog({
  onCreate,
  children,
  ...form
}: Omit<FormDialogProps, "keepsOpen" | "onSave"> & {
  /** Resolves with what is shown. */
  readonly onCreate: (values: Values) => Promise<string>;
  /** The dialog that shows it. */
  readonly children: (made: string) => ComponentChildren;
}) {
  const [made, setMade] = useState<string | undefined>(undefined);
  if (made !== undefined) return <>{children(made)}</>;
  return <FormDialog {...form} keepsOpen onSave={async (values) => setMade(await onCreate(values))} />;
}
