/** One action of a plugin: what it does, what it takes, and what it gives. */
import type { Schemas } from "../api/client.ts";
import styles from "../areas/areas.module.css";
import { Sent } from "../areas/delivery-parts.tsx";
import { Panel } from "../parts/page.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { adminWords } from "./admin-words.ts";
import { type Argument, argumentsOf } from "./plugin-arguments.ts";

const texts = adminWords.plugins;
type Action = Schemas["Plugin"]["manifest"]["actions"][string];

const COLUMNS: readonly Column<Argument>[] = [
  {
    name: texts.arg,
    width: "30%",
    narrow: "42%",
    cell: ({ name, isRequired }) => (
      <>
        <code>{name}</code>
        {isRequired ? <Under>{texts.required}</Under> : null}
      </>
    ),
  },
  { name: texts.type, width: "24%", narrow: "auto", cell: ({ type }) => <span class={styles["wrap"]}>{type}</span> },
  {
    name: texts.meaning,
    needs: "wide",
    cell: ({ description }) => <span class={styles["wrap"]}>{description}</span>,
  },
];

export function PluginAction({
  name,
  action: { description, args, outputs },
  isDefault,
}: {
  readonly name: string;
  readonly action: Action;
  readonly isDefault: boolean;
}) {
  const list = argumentsOf(args);
  return (
    <Panel padded>
      <h3 class={styles["name"]}>
        <code>{name}</code> {isDefault ? <span class={styles["quiet"]}>{texts.isDefault}</span> : null}
      </h3>
      {description === "" ? null : <p>{description}</p>}
      {args === null || args === true ? (
        <p class={styles["quiet"]}>{texts.anyArgs}</p>
      ) : list === undefined ? (
        <Sent text={JSON.stringify(args, null, 2)} label={texts.args} />
      ) : list.length === 0 ? (
        <p class={styles["quiet"]}>{texts.noArgs}</p>
      ) : (
        <div class={styles["inside"]}>
          <Table label={texts.argsOf(name)} rows={list} columns={COLUMNS} keyOf={(one) => one.name} />
        </div>
      )}
      {outputs.length === 0 ? null : (
        <p>
          {texts.outputs}: <code>{outputs.join(", ")}</code>
        </p>
      )}
    </Panel>
  );
}
