/** The settings of a project, a tenant or the installation: each with the level that its value is from. */
import { useState } from "preact/hooks";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { type Field, FormDialog, type Values } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";
import { type Area, mayHere, readSettings, type SettingValues, writeSettings } from "./area.ts";
import { areaWords } from "./area-words.ts";
import { fieldsOf, readFields, settingText } from "./setting-values.ts";
import styles from "./areas.module.css";

const texts = areaWords.settings;
type Setting = SettingValues[number];

export function Settings({ area }: { readonly area: Area }) {
  const settings = useResource((signal) => readSettings(area, signal), [JSON.stringify(area)]);
  const [changing, setChanging] = useState<Setting | undefined>(undefined);
  const mayWrite = mayHere("writeSettings", area);
  const loaded = settings.value;
  /** Sets one value of the area, or none for undefined. */
  const write = async (name: string, value: unknown) => {
    if (loaded === undefined) return;
    const own = loaded.detail.settings.filter((one) => one.own && one.name !== name);
    const values = Object.fromEntries(own.map((one) => [one.name, one.value]));
    await writeSettings(area, value === undefined ? values : { ...values, [name]: value }, loaded.etag).finally(
      settings.reload,
    );
    tell(value === undefined ? texts.unsetDone : texts.saved);
  };
  const columns: readonly Column<Setting>[] = [
    {
      name: texts.name,
      cell: ({ name }) => (
        <>
          <span class={styles["wrap"]}>{texts.about_[name]}</span>
          <Under>{name}</Under>
        </>
      ),
    },
    {
      name: texts.value,
      width: "28%",
      narrow: "112px",
      cell: ({ name, value }) => <span class={styles["wrap"]}>{settingText(name, value)}</span>,
    },
    {
      name: texts.source,
      width: "150px",
      needs: "wide",
      cell: ({ source, own }) => (own ? <strong>{texts.own}</strong> : texts.sources[source]),
    },
    {
      name: texts.change,
      isQuiet: true,
      width: "190px",
      narrow: "108px",
      align: "end",
      cell: (setting) =>
        mayWrite ? (
          <span class={styles["buttons"]}>
            {setting.own ? <Button onClick={() => write(setting.name, undefined)}>{texts.unset}</Button> : null}
            <Button onClick={() => setChanging(setting)}>{texts.change}</Button>
          </span>
        ) : null,
    },
  ];
  return (
    <Section title={areaWords.tabs.settings}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={settings} rows={12}>
        {({ detail }) => (
          <Table
            label={areaWords.tabs.settings}
            rows={detail.settings}
            columns={columns}
            keyOf={({ name }) => name}
            stateOf={({ own }) => (own ? "chosen" : undefined)}
          />
        )}
      </Loaded>
      {changing === undefined ? null : (
        <FormDialog
          title={texts.changeTitle(changing.name)}
          about={texts.about_[changing.name]}
          save={texts.save}
          fields={fieldsOf(changing.name, changing.value) as readonly Field[]}
          onClose={() => setChanging(undefined)}
          onSave={(values: Values) => write(changing.name, readFields(changing.name, values))}
        />
      )}
    </Section>
  );
}
