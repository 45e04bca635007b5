/** How agents come in: the tokens with which they register, and the command that starts one. */
import { session } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Copied } from "../parts/copied.tsx";
import { Dialog } from "../parts/dialog.tsx";
import type { Values } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { ShownOnceDialog } from "../parts/shown-once.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";
import { expiryColumn, useTokenRemoval } from "../parts/token-columns.tsx";
import { Labels } from "./agent-parts.tsx";
import styles from "./forms.module.css";
import { registrationWords } from "./registration-words.ts";

const texts = registrationWords;
type Token = Schemas["RegistrationToken"];
const LIFETIMES = Object.entries(texts.lifetimes);

/** An agent of the installation gets jobs of every project: only who manages all agents lets one in here. */
export const mayRegister = (): boolean => session.value?.operations.includes("manageAgents") ?? false;

/** Makes a token, and shows once how an agent is started with it. */
export function AddAgentDialog({ onMade, onClose }: { readonly onMade: () => void; readonly onClose: () => void }) {
  return (
    <ShownOnceDialog
      title={texts.add}
      about={texts.addText}
      save={texts.create}
      fields={[
        { name: "name", label: texts.name, isRequired: true, hint: texts.nameHint },
        { name: "maxUses", label: texts.uses, kind: "number", value: "1", hint: texts.usesHint },
        { name: "expiresIn", label: texts.lasts, kind: "select", value: "1d", options: LIFETIMES },
        { name: "labels", label: texts.labels, kind: "area", hint: texts.labelsHint },
      ]}
      onClose={onClose}
      onCreate={async (values) => {
        const made = await api.post("/agents/registration-tokens", { body: bodyOf(values) });
        onMade();
        return made.token;
      }}
    >
      {(token) => (
        <Dialog title={texts.made} wide onClose={onClose}>
          <div class={styles["steps"]}>
            <p>{texts.startText}</p>
            <Copied isBlock text={texts.command(token, location.hostname)} />
            <p class={styles["quiet"]}>{texts.gatewayText}</p>
            <p class={styles["quiet"]}>{texts.shownOnce}</p>
          </div>
        </Dialog>
      )}
    </ShownOnceDialog>
  );
}

function bodyOf({ name = "", maxUses = "", expiresIn = "", labels = "" }: Values) {
  const uses = maxUses.trim();
  if (uses !== "" && !/^\d+$/.test(uses)) throw new Error(texts.badUses);
  const lines = labels.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  return {
    name: name.trim(),
    ...(uses === "" ? {} : { maxUses: Number(uses) }),
    ...(expiresIn === "" ? {} : { expiresIn }),
    ...(lines.length === 0 ? {} : { labels: Object.fromEntries(lines.map(labelOf)) }),
  };
}

function labelOf(line: string): readonly [key: string, value: string] {
  const at = line.indexOf("=");
  if (at < 1) throw new Error(texts.badLabel(line));
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** The tokens that agents can still use. `turn` grows when one was made. */
export function RegistrationTokens({ turn }: { readonly turn: number }) {
  const tokens = useResource((signal) => api.get("/agents/registration-tokens", { signal }), [turn]);
  const removal = useTokenRemoval<Token>(texts.removeText, async ({ tokenId }) => {
    await api.delete("/agents/registration-tokens/{tokenId}", { path: { tokenId } });
    tell(texts.removed);
    tokens.reload();
  });
  const columns: readonly Column<Token>[] = [
    {
      name: texts.name,
      cell: ({ name, labels }) => (
        <>
          {name}
          <Under>
            <Labels labels={labels} />
          </Under>
        </>
      ),
    },
    { name: texts.used, width: "120px", narrow: "84px", cell: ({ uses, maxUses }) => texts.usedOf(uses, maxUses) },
    expiryColumn("wide"),
    removal.column,
  ];
  return (
    <Loaded of={tokens} rows={1}>
      {({ list }) => {
        const usable = list.filter((token) => token.usable);
        return usable.length === 0 ? null : (
          <Section title={texts.title}>
            <Table label={texts.title} rows={usable} columns={columns} keyOf={({ tokenId }) => tokenId} />
            {removal.dialog}
          </Section>
        );
      }}
    </Loaded>
  );
}
