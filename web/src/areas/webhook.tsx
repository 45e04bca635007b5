/** One webhook with its deliveries. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useFilters } from "../app/place.ts";
import { useResource } from "../api/resource.ts";
import type { Schemas } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ConfirmDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { usePages } from "../parts/more.tsx";
import { Facts, Panel, Section } from "../parts/page.tsx";
import { type Column, RowButton, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import {
  addressOf,
  type Area,
  changeWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  redeliver,
  rotateSecret,
} from "./area.ts";
import { StateList } from "./state-list.tsx";
import { areaWords } from "./area-words.ts";
import { DeliveryState, prettyJson, Sent, Tries } from "./delivery-parts.tsx";
import { SecretDialog, WebhookState } from "./webhooks.tsx";
import styles from "./areas.module.css";

const texts = areaWords.webhooks;
type Delivery = Schemas["DeliveryInList"];
const STATES: readonly (readonly [string, string])[] = [["", texts.allStates], ...Object.entries(texts.states)];

export function Webhook({ area, webhookId }: { readonly area: Area; readonly webhookId: string }) {
  const { route } = useLocation();
  const webhook = useResource((signal) => getWebhook(area, webhookId, signal), [webhookId]);
  const [asking, setAsking] = useState<"rotate" | "remove" | undefined>(undefined);
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const close = () => setAsking(undefined);
  const list = `${addressOf(area)}/webhooks`;
  return (
    <>
      <Loaded of={webhook} rows={3}>
        {(shown) => (
          <Section
            title={shown.address}
            aside={
              <span class={styles["buttons"]}>
                <Button
                  onClick={async () => {
                    await changeWebhook(area, webhookId, { enabled: !shown.enabled });
                    webhook.reload();
                  }}
                >
                  {shown.enabled ? texts.disable : texts.enable}
                </Button>
                <Button onClick={() => setAsking("rotate")}>{texts.rotate}</Button>
                <Button onClick={() => setAsking("remove")}>{texts.remove}</Button>
              </span>
            }
          >
            <Panel padded>
              <Facts
                of={[
                  [
                    texts.state,
                    <>
                      <WebhookState of={shown} />
                      {shown.disabled === null ? null : `: ${shown.disabled.reason}`}
                    </>,
                  ],
                  [texts.types, shown.types.length === 0 ? texts.all : shown.types.join(", ")],
                  ...(shown.description === "" ? [] : ([[texts.description, shown.description]] as const)),
                  [areaWords.members.since, <Ago at={shown.createdAt} />],
                ]}
              />
            </Panel>
          </Section>
        )}
      </Loaded>
      <Deliveries area={area} webhookId={webhookId} />
      {asking === "rotate" ? (
        <ConfirmDialog
          title={texts.rotateTitle}
          text={texts.rotateText}
          action={texts.rotate}
          onClose={close}
          onConfirm={async () => setSecret((await rotateSecret(area, webhookId)).secret)}
        />
      ) : null}
      {asking === "remove" ? (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText}
          action={texts.remove}
          onClose={close}
          onConfirm={async () => {
            await deleteWebhook(area, webhookId);
            tell(texts.removed);
            route(list);
          }}
        />
      ) : null}
      {secret === undefined ? null : <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

function Deliveries({ area, webhookId }: { readonly area: Area; readonly webhookId: string }) {
  const [filters, change] = useFilters();
  const [open, setOpen] = useState<string | undefined>(undefined);
  const state = filters["state"] ?? "";
  const deliveries = usePages(
    (after, signal) => listDeliveries(area, webhookId, state, after, signal),
    [webhookId, state],
  );
  const columns: readonly Column<Delivery>[] = [
    {
      name: texts.type,
      cell: ({ deliveryId, type, runId }) => (
        <>
          <RowButton onClick={() => setOpen(deliveryId)}>{type}</RowButton>
          <Under>{runId}</Under>
        </>
      ),
    },
    {
      name: texts.state,
      width: "34%",
      cell: ({ state: word, status, error, nextTry }) => (
        <>
          <DeliveryState state={word} word={texts.states[word]} /> {status ?? ""}
          <Under>
            {error}
            {nextTry === null ? null : (
              <>
                {" "}
                {texts.next} <Ago at={nextTry} />
              </>
            )}
          </Under>
        </>
      ),
    },
    { name: texts.attempts, width: "70px", needs: "wide", align: "end", cell: ({ attempts }) => attempts },
    { name: texts.at, width: "104px", needs: "wide", align: "end", cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
  return (
    <StateList
      title={texts.deliveries}
      states={STATES}
      state={state}
      onState={(value) => change({ state: value })}
      of={deliveries}
      columns={columns}
      keyOf={({ deliveryId }) => deliveryId}
      blank={<p class={styles["quiet"]}>{texts.noDeliveries}</p>}
    >
      {open === undefined ? null : (
        <DeliveryDialog
          area={area}
          webhookId={webhookId}
          deliveryId={open}
          onClose={() => setOpen(undefined)}
          onChange={deliveries.reload}
        />
      )}
    </StateList>
  );
}

function DeliveryDialog({
  area,
  webhookId,
  deliveryId,
  onClose,
  onChange,
}: {
  readonly area: Area;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly onClose: () => void;
  readonly onChange: () => void;
}) {
  const delivery = useResource((signal) => getDelivery(area, webhookId, deliveryId, signal), [deliveryId]);
  const again = async () => {
    await redeliver(area, webhookId, deliveryId);
    tell(texts.redelivered);
    onChange();
    onClose();
  };
  return (
    <Dialog
      title={texts.delivery}
      wide
      onClose={onClose}
      actions={delivery.value === undefined ? undefined : <Button onClick={again}>{texts.redeliver}</Button>}
    >
      <Loaded of={delivery} rows={4}>
        {(shown) => (
          <>
            <Facts
              of={[
                [texts.type, shown.type],
                [texts.state, <DeliveryState state={shown.state} word={texts.states[shown.state]} />],
                [texts.run, <a href={`/runs/${shown.runId}`}>{shown.runId}</a>],
              ]}
            />
            <h3>{texts.tries}</h3>
            <Tries of={shown.tries} />
            <h3>{texts.body}</h3>
            <Sent text={prettyJson(shown.body)} label={texts.body} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
