/** Dialogs that ask: for the fields of a form, or whether something may be done. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { problemText } from "../api/errors.ts";
import { words } from "../words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import styles from "./form-dialog.module.css";

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind?: "text" | "area" | "secret" | "number" | "select" | "check";
  /** The text at first; `true` for a checked box. */
  readonly value?: string;
  /** For `select`. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  readonly isRequired?: boolean;
  readonly hint?: string;
}

export type Values = Readonly<Record<string, string>>;

export interface FormDialogProps {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly fields: readonly Field[];
  /** The text of the button. */
  readonly save: string;
  readonly wide?: boolean;
  /** The caller shows what comes next. */
  readonly keepsOpen?: boolean;
  /** The dialog closes when it resolves, and shows what it rejects with. */
  readonly onSave: (values: Values) => Promise<unknown>;
  readonly onClose: () => void;
}

export function FormDialog({ title, about, fields, save, wide, keepsOpen = false, onSave, onClose }: FormDialogProps) {
  const [values, setValues] = useState<Values>(Object.fromEntries(fields.map(({ name, value = "" }) => [name, value])));
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const isComplete = fields.every(({ name, isRequired }) => isRequired !== true || values[name]?.trim() !== "");
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isComplete || isBusy) return;
    setBusy(true);
    onSave(values)
      .then(
        () => (keepsOpen ? undefined : onClose()),
        (error: unknown) => setProblem(problemText(error)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} wide={wide === true} onClose={onClose}>
      <form class={styles["form"]} onSubmit={submit}>
        {about === undefined ? null : <div class={styles["about"]}>{about}</div>}
        {fields.map((field, at) => (
          <FieldOf
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            isFirst={at === 0}
            onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        {problem === "" ? null : (
          <p class={styles["problem"]} role="alert">
            {problem}
          </p>
        )}
        <div class={styles["actions"]}>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind="primary" type="submit" disabled={!isComplete || isBusy}>
            {save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function FieldOf({
  field,
  value,
  isFirst,
  onChange,
}: {
  readonly field: Field;
  readonly value: string;
  readonly isFirst: boolean;
  readonly onChange: (value: string) => void;
}) {
  const { label, kind = "text", hint } = field;
  const shared = { value, autoFocus: isFirst, required: field.isRequired === true };
  const typed = (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value);
  if (kind === "check") {
    return (
      <label class={styles["check"]}>
        <input
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => onChange(event.currentTarget.checked ? "true" : "")}
        />
        <span>
          {label}
          {hint === undefined ? null : <small>{hint}</small>}
        </span>
      </label>
    );
  }
  return (
    <label class={styles["field"]}>
      {label}
      {kind === "area" ? (
        <textarea {...shared} rows={5} spellcheck={false} onInput={typed} />
      ) : kind === "select" ? (
        <select {...shared} onChange={typed}>
          {field.options?.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      ) : kind === "secret" ? (
        <input {...shared} type="password" autoComplete="new-password" onInput={typed} />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={kind === "number" ? "numeric" : "text"}
          autoComplete="off"
          onInput={typed}
        />
      )}
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}

/** Asks before something that cannot be undone. `typed`: a text that the reader must type first. */
export function ConfirmDialog({
  title,
  text,
  action,
  typed,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly action: string;
  readonly typed?: { readonly label: string; readonly text: string };
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const [value, setValue] = useState("");
  const confirm = async () => {
    await onConfirm();
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind="danger" disabled={typed !== undefined && value !== typed.text} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      <div class={styles["form"]}>
        <div class={styles["about"]}>{text}</div>
        {typed === undefined ? null : (
          <label class={styles["field"]}>
            {typed.label}
            <input
              value={value}
              autoFocus
              autoComplete="off"
              onInput={(event) => setValue(event.currentTarget.value)}
            />
          </label>
        )}
      </div>
    </Dialog>
  );
}
