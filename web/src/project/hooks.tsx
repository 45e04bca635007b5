/** The addresses that hosts of repositories call, and for each delivery what the pipelines did with it. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import plug from "lucide-static/icons/plug-zap.svg?raw";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { useFilters } from "../app/place.ts";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { DeliveryState, prettyJson, Sent } from "../areas/delivery-parts.tsx";
import { StateList } from "../areas/state-list.tsx";
import { Button } from "../parts/button.tsx";
import { copyText } from "../parts/copy.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { usePages } from "../parts/more.tsx";
import { Facts, Panel, Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowButton, RowLink, Table, Under } from "../parts/table.tsx";
import { sizeText } from "../parts/time-texts.ts";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";

const texts = areaWords.hooks;
type Hook = Schemas["Hook"];
type Kind = Hook["kind"];
const KINDS: readonly Kind[] = ["github", "gitlab", "gitea", "forgejo", "bitbucket", "generic"];
const STATES: readonly (readonly [string, string])[] = [
  ["", areaWords.webhooks.allStates],
  ...Object.entries(texts.states),
];

export function Hooks({ projectId }: { readonly projectId: string }) {
  const path = { projectId };
  const hooks = useResource((signal) => api.get("/projects/{projectId}/hooks", { path, signal }), [projectId]);
  const [isMaking, setMaking] = useState(false);
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {texts.make}
    </Button>
  );
  const columns: readonly Column<Hook>[] = [
    {
      name: texts.name,
      cell: ({ hookId, name, kind }) => (
        <>
          <RowLink href={`/projects/${projectId}/hooks/${hookId}`}>{name}</RowLink>
          <Under>{kind}</Under>
        </>
      ),
    },
    { name: texts.proof, width: "190px", needs: "wide", cell: ({ proof }) => texts.proofs[proof] },
    {
      name: areaWords.webhooks.state,
      width: "96px",
      cell: ({ enabled }) =>
        enabled ? <span class={styles["good"]}>{texts.enabled}</span> : <span>{texts.disabled}</span>,
    },
  ];
  return (
    <Section title={areaWords.tabs.hooks} aside={make}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={hooks}>
        {({ list }) =>
          list.length === 0 ? (
            <Blank icon={plug} title={texts.none} actions={make}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table label={areaWords.tabs.hooks} rows={list} columns={columns} keyOf={({ hookId }) => hookId} />
          )
        }
      </Loaded>
      {isMaking ? (
        <FormDialog
          title={texts.make}
          save={texts.create}
          fields={[
            { name: "name", label: texts.name, isRequired: true },
            {
              name: "kind",
              label: texts.kind,
              kind: "select",
              value: "github",
              options: KINDS.map((kind) => [kind, kind] as const),
            },
            {
              name: "proof",
              label: texts.proof,
              kind: "select",
              value: "signature",
              options: Object.entries(texts.proofs),
            },
            { name: "secret", label: texts.secret, hint: texts.secretHint },
          ]}
          onClose={() => setMaking(false)}
          onSave={async ({ name = "", kind, proof, secret = "" }) => {
            await api.post("/projects/{projectId}/hooks", {
              path,
              body: {
                name: name.trim(),
                kind: kind as Kind,
                proof: proof as Hook["proof"],
                ...(secret.trim() === "" ? {} : { secret: secret.trim() }),
              },
            });
            hooks.reload();
          }}
        />
      ) : null}
    </Section>
  );
}

export function HookPart({ projectId, hookId }: { readonly projectId: string; readonly hookId: string }) {
  const path = { projectId, hookId };
  const { route } = useLocation();
  const hook = useResource((signal) => api.get("/projects/{projectId}/hooks/{hookId}", { path, signal }), [hookId]);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Loaded of={hook} rows={3}>
        {(shown) => {
          const address = `${location.origin}${shown.path}`;
          return (
            <Section
              title={shown.name}
              aside={
                <span class={styles["buttons"]}>
                  <Button
                    onClick={async () => {
                      await api.patch("/projects/{projectId}/hooks/{hookId}", {
                        path,
                        body: { enabled: !shown.enabled },
                      });
                      hook.reload();
                    }}
                  >
                    {shown.enabled ? texts.off : texts.on}
                  </Button>
                  <Button onClick={() => copyText(address)}>{texts.copy}</Button>
                  <Button onClick={() => setAsking(true)}>{texts.remove}</Button>
                </span>
              }
            >
              <Panel padded>
                <Facts
                  of={[
                    [texts.path, <code>{address}</code>],
                    [texts.kind, shown.kind],
                    [texts.proof, texts.proofs[shown.proof]],
                    ...(shown.secret === null ? [] : ([[texts.secret, <code>{shown.secret}</code>]] as const)),
                    [texts.perMinute, shown.perMinute],
                    [areaWords.webhooks.state, shown.enabled ? texts.enabled : texts.disabled],
                  ]}
                />
              </Panel>
            </Section>
          );
        }}
      </Loaded>
      <Deliveries projectId={projectId} hookId={hookId} />
      {isAsking ? (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText}
          action={texts.remove}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await api.delete("/projects/{projectId}/hooks/{hookId}", { path });
            tell(texts.removed);
            route(`/projects/${projectId}/hooks`);
          }}
        />
      ) : null}
    </>
  );
}

type Delivery = Schemas["HookDeliveryInList"];

function Deliveries({ projectId, hookId }: { readonly projectId: string; readonly hookId: string }) {
  const [filters, change] = useFilters();
  const [open, setOpen] = useState<string | undefined>(undefined);
  const state = filters["state"] ?? "";
  const deliveries = usePages(
    (after, signal) =>
      api.get("/projects/{projectId}/hooks/{hookId}/deliveries", {
        path: { projectId, hookId },
        query: {
          limit: 50,
          ...(state === "" ? {} : { state: state as Delivery["state"] }),
          ...(after === undefined ? {} : { after }),
        },
        signal,
      }),
    [hookId, state],
  );
  const columns: readonly Column<Delivery>[] = [
    {
      name: texts.event,
      cell: ({ deliveryId, event, events }) => (
        <>
          <RowButton onClick={() => setOpen(deliveryId)}>{event === "" ? deliveryId : event}</RowButton>
          <Under>{[...new Set(events.map(({ ref, actor }) => `${ref} ${actor}`.trim()))].join(", ")}</Under>
        </>
      ),
    },
    {
      name: areaWords.webhooks.state,
      width: "26%",
      cell: ({ state: word, error }) => (
        <>
          <DeliveryState state={word} word={texts.states[word]} />
          <Under>{error}</Under>
        </>
      ),
    },
    { name: texts.runs, width: "70px", align: "end", needs: "wide", cell: ({ runs }) => runs.length },
    { name: texts.received, width: "104px", align: "end", needs: "wide", cell: (one) => <Ago at={one.receivedAt} /> },
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
          projectId={projectId}
          hookId={hookId}
          deliveryId={open}
          onClose={() => setOpen(undefined)}
          onChange={deliveries.reload}
        />
      )}
    </StateList>
  );
}

function DeliveryDialog({
  projectId,
  hookId,
  deliveryId,
  onClose,
  onChange,
}: {
  readonly projectId: string;
  readonly hookId: string;
  readonly deliveryId: string;
  readonly onClose: () => void;
  readonly onChange: () => void;
}) {
  const path = { projectId, hookId, deliveryId };
  const delivery = useResource(
    (signal) => api.get("/projects/{projectId}/hooks/{hookId}/deliveries/{deliveryId}", { path, signal }),
    [deliveryId],
  );
  const again = async () => {
    await api.post("/projects/{projectId}/hooks/{hookId}/deliveries/{deliveryId}/redeliver", { path });
    tell(areaWords.webhooks.redelivered);
    onChange();
    onClose();
  };
  return (
    <Dialog
      title={areaWords.webhooks.delivery}
      wide
      onClose={onClose}
      actions={
        delivery.value === undefined ? undefined : <Button onClick={again}>{areaWords.webhooks.redeliver}</Button>
      }
    >
      <Loaded of={delivery} rows={4}>
        {(shown) => (
          <>
            <Facts
              of={[
                [texts.event, shown.event],
                [
                  areaWords.webhooks.state,
                  <>
                    <DeliveryState state={shown.state} word={texts.states[shown.state]} /> {shown.error}
                  </>,
                ],
                [texts.received, <Ago at={shown.receivedAt} />],
                [texts.bytes, sizeText(shown.bytes)],
              ]}
            />
            <h3>{texts.verdicts}</h3>
            <Verdicts of={shown.verdicts} />
            <h3>{texts.headers}</h3>
            <Sent
              text={Object.entries(shown.headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join("\n")}
              label={texts.headers}
            />
            <h3>{texts.body}</h3>
            <Sent text={prettyJson(shown.body)} label={texts.body} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function Verdicts({ of }: { readonly of: Schemas["HookDelivery"]["verdicts"] }) {
  if (of === null || of.length === 0) {
    return <p class={styles["quiet"]}>{of === null ? texts.noVerdicts : texts.noneListen}</p>;
  }
  return (
    <ul class={styles["tries"]}>
      {of.map(({ pipelineId, pipeline, trigger, eventIndex, outcome, text, runId }) => (
        <li key={`${pipelineId} ${trigger} ${eventIndex}`}>
          <a href={`/pipelines/${pipelineId}`}>{pipeline}</a>
          {trigger === "" ? "" : ` / ${trigger}`}: <strong>{texts.outcomes[outcome]}</strong> {text}{" "}
          {runId === null ? null : <a href={`/runs/${runId}`}>{runId}</a>}
        </li>
      ))}
    </ul>
  );
}
