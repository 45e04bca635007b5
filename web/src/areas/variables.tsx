/** The variables that every run of a project or a tenant gets. */
import { useState } from "preact/hooks";
import variable from "lucide-static/icons/variable.svg?raw";
import type { Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { type Area, deleteVariable, listVariables, mayHere, putVariable } from "./area.ts";
import { areaWords } from "./area-words.ts";
import styles from "./areas.module.css";

const texts = areaWords.variables;
type Variable = Schemas["Variable"];

export function Variables({ area }: { readonly area: Area }) {
  const variables = useResource((signal) => listVariables(area, signal), [JSON.stringify(area)]);
  const [open, setOpen] = useState<{ readonly kind: "set" | "remove"; readonly of: Variable | undefined } | undefined>(
    undefined,
  );
  const mayWrite = mayHere("writeVariables", area);
  const close = () => setOpen(undefined);
  const columns: readonly Column<Variable>[] = [
    { name: texts.name, width: "32%", cell: ({ name }) => <code>{name}</code> },
    { name: texts.value, cell: ({ value }) => <span title={value}>{value}</span> },
    { name: texts.changed, width: "110px", needs: "wide", align: "end", cell: (one) => <Ago at={one.updatedAt} /> },
    {
      name: texts.change,
      isQuiet: true,
      width: "186px",
      narrow: "100px",
      align: "end",
      cell: (of) =>
        mayWrite ? (
          <span class={styles["buttons"]}>
            <Button onClick={() => setOpen({ kind: "set", of })}>{texts.change}</Button>
            <Button onClick={() => setOpen({ kind: "remove", of })}>{texts.remove}</Button>
          </span>
        ) : null,
    },
  ];
  const set = mayWrite ? (
    <Button kind="primary" onClick={() => setOpen({ kind: "set", of: undefined })}>
      {texts.set}
    </Button>
  ) : undefined;
  return (
    <Section title={areaWords.tabs.variables} aside={set}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={variables}>
        {({ list }) =>
          list.length === 0 ? (
            <Blank icon={variable} title={texts.none} actions={set}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table label={areaWords.tabs.variables} rows={list} columns={columns} keyOf={({ name }) => name} />
          )
        }
      </Loaded>
      {open?.kind === "set" ? (
        <FormDialog
          title={open.of === undefined ? texts.set : texts.changeTitle(open.of.name)}
          save={texts.save}
          fields={[
            ...(open.of === undefined ? [{ name: "name", label: texts.name, isRequired: true }] : []),
            { name: "value", label: texts.value, kind: "area", value: open.of?.value ?? "" },
          ]}
          onClose={close}
          onSave={async ({ name = open.of?.name ?? "", value = "" }) => {
            await putVariable(area, name.trim(), value);
            tell(texts.saved);
            variables.reload();
          }}
        />
      ) : null}
      {open?.kind === "remove" && open.of !== undefined ? (
        <ConfirmDialog
          title={texts.removeTitle(open.of.name)}
          text={texts.removeText}
          action={texts.remove}
          onClose={close}
          onConfirm={async () => {
            await deleteVariable(area, open.of!.name);
            tell(texts.removed);
            variables.reload();
          }}
        />
      ) : null}
    </Section>
  );
}
