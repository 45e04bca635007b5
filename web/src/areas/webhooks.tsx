/** The webhooks of a project or a tenant. */
import { useState } from "preact/hooks";
import webhookIcon from "lucide-static/icons/webhook.svg?raw";
import type { Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { copyText } from "../parts/copy.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowLink, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { words } from "../words.ts";
import { addressOf, type Area, createWebhook, listWebhooks } from "./area.ts";
import { areaWords } from "./area-words.ts";
import styles from "./areas.module.css";

const texts = areaWords.webhooks;
type Webhook = Schemas["Webhook"];

export function Webhooks({ area }: { readonly area: Area }) {
  const webhooks = useResource((signal) => listWebhooks(area, signal), [JSON.stringify(area)]);
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {texts.make}
    </Button>
  );
  const columns: readonly Column<Webhook>[] = [
    {
      name: texts.address,
      cell: ({ webhookId, address, description }) => (
        <>
          <RowLink href={`${addressOf(area)}/webhooks/${webhookId}`}>{address}</RowLink>
          {description === "" ? null : <Under>{description}</Under>}
        </>
      ),
    },
    {
      name: texts.types,
      width: "30%",
      needs: "wide",
      cell: ({ types }) => (types.length === 0 ? texts.all : types.join(", ")),
    },
    { name: texts.state, width: "190px", narrow: "110px", cell: (webhook) => <WebhookState of={webhook} /> },
  ];
  return (
    <Section title={areaWords.tabs.webhooks} aside={make}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={webhooks}>
        {({ list }) =>
          list.length === 0 ? (
            <Blank icon={webhookIcon} title={texts.none} actions={make}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table label={areaWords.tabs.webhooks} rows={list} columns={columns} keyOf={(one) => one.webhookId} />
          )
        }
      </Loaded>
      {isMaking ? (
        <FormDialog
          title={texts.make}
          save={texts.create}
          fields={[
            { name: "url", label: texts.address, isRequired: true, value: "https://" },
            { name: "types", label: texts.types, kind: "area", hint: texts.typesHint },
            { name: "description", label: texts.description },
            { name: "ordered", label: texts.ordered, kind: "check" },
          ]}
          onClose={() => setMaking(false)}
          onSave={async ({ url = "", types = "", description = "", ordered }) => {
            const list = types.split(/\s+/).filter((type) => type !== "");
            const made = await createWebhook(area, {
              url: url.trim(),
              description: description.trim(),
              ordered: ordered === "true",
              ...(list.length === 0 ? {} : { types: list }),
            });
            setSecret(made.secret);
            webhooks.reload();
          }}
        />
      ) : null}
      {secret === undefined ? null : <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </Section>
  );
}

export function WebhookState({ of }: { readonly of: Webhook }) {
  if (!of.enabled) return <span title={of.disabled?.reason}>{texts.off}</span>;
  if (of.failingSince === null) return <span class={styles["good"]}>{texts.on}</span>;
  return (
    <span class={styles["bad"]}>
      {texts.failing} {texts.since} <Ago at={of.failingSince} />
    </span>
  );
}

export function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog
      title={texts.secretTitle}
      onClose={onClose}
      actions={<Button onClick={() => copyText(secret)}>{words.actions.copy}</Button>}
    >
      <p class={styles["about"]}>{texts.secretText}</p>
      <code class={styles["secret"]}>{secret}</code>
    </Dialog>
  );
}
