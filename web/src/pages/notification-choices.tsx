/** What the reader wants to be told of by e-mail: one choice for each project and kind of run. */
import { useState } from "preact/hooks";
import { may, projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { FormDialog, type Values } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { Table, Under } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { choiceWords } from "./choice-words.ts";
import styles from "./forms.module.css";

const texts = choiceWords;
type Choice = Schemas["NotificationChoices"]["choices"][number];
type Wanted = Omit<Choice, "since">;
const REASONS = Object.entries(texts.reasons) as [Choice["on"][number], string][];
const RUNS = Object.entries(texts.runs) as [Choice["runs"], string][];

export function NotificationChoices() {
  const resource = useResource((signal) => api.getTagged("/me/notifications", { signal }), []);
  const [editing, setEditing] = useState<number | undefined>(undefined);
  const { value } = resource;
  const choices = value?.detail.choices ?? [];
  const replace = async (wanted: readonly Wanted[]) => {
    const list = wanted.map(({ projectId, on, runs, longerThan }) => ({ projectId, on: [...on], runs, longerThan }));
    await api.put("/me/notifications", {
      body: { choices: list },
      ...(value?.etag === undefined ? {} : { ifMatch: value.etag }),
    });
    tell(texts.saved);
    resource.reload();
  };
  const nameOf = (projectId: string) =>
    projects.value.find((project) => project.projectId === projectId)?.name ?? projectId;
  return (
    <Section
      title={texts.title}
      aside={
        typeof value?.detail.email === "string" && choices.length < projects.value.length ? (
          <Button onClick={() => setEditing(choices.length)}>{texts.add}</Button>
        ) : undefined
      }
    >
      <Loaded of={resource} rows={2}>
        {({ detail: { email } }) =>
          email === null ? (
            <p class={styles["quiet"]}>
              {texts.noEmail} {may("manageUsers") ? <a href="/admin/users">{texts.setEmail}</a> : texts.askForEmail}
            </p>
          ) : choices.length === 0 ? (
            <p class={styles["quiet"]}>{texts.none(email)}</p>
          ) : (
            <>
              <p class={`${styles["quiet"]} ${styles["lead"]}`}>{texts.to(email)}</p>
              <Table
                label={texts.title}
                rows={choices}
                keyOf={(choice) => String(choices.indexOf(choice))}
                columns={[
                  {
                    name: texts.project,
                    cell: (choice) => (
                      <>
                        {nameOf(choice.projectId)}
                        <Under>{texts.runs[choice.runs]}</Under>
                      </>
                    ),
                  },
                  {
                    name: texts.on,
                    width: "40%",
                    cell: ({ on, longerThan }) => (
                      <>
                        {on.map((reason) => texts.short[reason]).join(", ")}
                        {longerThan === null ? null : ` (${longerThan})`}
                      </>
                    ),
                  },
                  {
                    name: texts.change,
                    isQuiet: true,
                    width: "200px",
                    narrow: "104px",
                    align: "end",
                    cell: (choice) => (
                      <span class={styles["buttons"]}>
                        <Button onClick={() => setEditing(choices.indexOf(choice))}>{texts.change}</Button>
                        <Button onClick={() => replace(choices.filter((one) => one !== choice))}>{texts.remove}</Button>
                      </span>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
      {editing === undefined ? null : (
        <ChoiceDialog
          of={choices[editing]}
          taken={choices.flatMap(({ projectId }, at) => (at === editing ? [] : [projectId]))}
          onClose={() => setEditing(undefined)}
          onSave={(choice) => replace([...choices.slice(0, editing), choice, ...choices.slice(editing + 1)])}
        />
      )}
    </Section>
  );
}

function ChoiceDialog({
  of,
  taken,
  onClose,
  onSave,
}: {
  /** Undefined for a new choice. */
  readonly of: Choice | undefined;
  /** Projects of the other choices: each has one. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onSave: (choice: Wanted) => Promise<unknown>;
}) {
  const known = projects.value
    .filter(({ projectId }) => !taken.includes(projectId))
    .map(({ projectId, name }) => [projectId, name] as const);
  return (
    <FormDialog
      title={of === undefined ? texts.add : texts.change}
      save={words.actions.save}
      fields={[
        {
          name: "projectId",
          label: texts.project,
          kind: "select",
          value: of?.projectId ?? known[0]?.[0] ?? "",
          options: known,
        },
        { name: "runs", label: texts.which, kind: "select", value: of?.runs ?? "mine", options: RUNS },
        ...REASONS.map(([reason, label]) => ({
          name: reason,
          label,
          kind: "check" as const,
          value: (of?.on ?? ["failure"]).includes(reason) ? "true" : "",
        })),
        { name: "longerThan", label: texts.longerThan, value: of?.longerThan ?? "", hint: texts.longerThanHint },
      ]}
      onClose={onClose}
      onSave={(values) => onSave(choiceOf(values))}
    />
  );
}

function choiceOf(values: Values): Wanted {
  const on = REASONS.flatMap(([reason]) => (values[reason] === "true" ? [reason] : []));
  if (on.length === 0) throw new Error(texts.nothingChosen);
  const longerThan = values["longerThan"]?.trim() ?? "";
  return {
    projectId: values["projectId"] ?? "",
    on,
    runs: RUNS.find(([runs]) => runs === values["runs"])?.[0] ?? "mine",
    longerThan: on.includes("waiting") && longerThan !== "" ? longerThan : null,
  };
}
