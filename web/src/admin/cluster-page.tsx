/** What the control plane is made of now: nodes, shards with their queues, the memory of Redis, and dead letters. */
import { useEffect, useState } from "preact/hooks";
import { may } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import { useResource } from "../api/resource.ts";
import styles from "../areas/areas.module.css";
import { Sent } from "../areas/delivery-parts.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Above, type Column, RowButton, Table, Under } from "../parts/table.tsx";
import { durationText, sizeText } from "../parts/time-texts.ts";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.cluster;
type Cluster = Schemas["Cluster"];
type Shard = Schemas["Shard"];
type Node = Schemas["Node"];
type Letter = Schemas["DeadLetter"];
/** No channel tells of the cluster. */
const EVERY_MS = 5_000;
const MOST_SHARDS = 256;

export function ClusterPage() {
  const cluster = useResource((signal) => api.get("/cluster", { signal }), []);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) cluster.reload();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [cluster.reload]);
  return (
    <Page title={texts.title}>
      <Loaded of={cluster} rows={12}>
        {(shown) => (
          <>
            <Nodes of={shown.nodes} />
            <Shards of={shown.shards} />
            <Redis of={shown.redis} />
            <DeadLetters totals={shown.deadLetters} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Characters that tell the nodes of a cluster apart; the whole id is the title. */
const NODE_ID = 8;

function Nodes({ of }: { readonly of: readonly Node[] }) {
  const columns: readonly Column<Node>[] = [
    {
      name: texts.node,
      cell: ({ nodeId, host, pid }) => (
        <>
          <code title={nodeId}>{nodeId.slice(0, NODE_ID)}</code>
          <Under>
            {host} · {pid}
          </Under>
        </>
      ),
    },
    {
      name: texts.roles,
      width: "26%",
      narrow: "104px",
      cell: ({ roles }) => <span class={styles["wrap"]}>{roles.join(", ")}</span>,
    },
    { name: texts.version, width: "96px", needs: "wide", cell: ({ version }) => version },
    { name: texts.shardsOf, width: "84px", align: "end", cell: ({ shards }) => shards.length },
    { name: texts.started, width: "104px", needs: "wide", align: "end", cell: (one) => <Ago at={one.startedAt} /> },
  ];
  return (
    <Section title={texts.nodes}>
      <Table label={texts.nodes} rows={of} columns={columns} keyOf={({ nodeId }) => nodeId} />
    </Section>
  );
}

/** Delayed messages are timers: every shard that is in use has some. */
const needsLook = ({ owner, depth }: Shard): boolean => owner === null || depth.waiting > 0 || depth.failed > 0;

function Shards({ of }: { readonly of: readonly Shard[] }) {
  const [isAll, setAll] = useState(false);
  const shown = (isAll ? of : of.filter(needsLook)).slice(0, MOST_SHARDS);
  const sum = (name: "waiting" | "active") => of.reduce((total, { depth }) => total + depth[name], 0);
  const number = (name: keyof Shard["depth"]): Column<Shard> => ({
    name: texts[name],
    width: "92px",
    narrow: "66px",
    align: "end",
    ...(name === "delayed" ? { needs: "wide" as const } : {}),
    cell: ({ depth }) => (
      <span class={depth[name] > 0 && name === "failed" ? styles["bad"] : undefined}>{depth[name]}</span>
    ),
  });
  const columns: readonly Column<Shard>[] = [
    { name: texts.shard, width: "72px", cell: ({ shard }) => shard },
    {
      name: texts.owner,
      cell: ({ owner }) =>
        owner === null ? (
          <span class={styles["bad"]}>{texts.noOwner}</span>
        ) : (
          <code title={owner}>{owner.slice(0, NODE_ID)}</code>
        ),
    },
    { name: texts.epoch, width: "148px", needs: "medium", align: "end", cell: ({ epoch }) => epoch },
    number("waiting"),
    number("active"),
    number("delayed"),
    number("failed"),
    {
      name: texts.oldest,
      width: "110px",
      needs: "wide",
      align: "end",
      cell: ({ oldestWaitingMs }) => (oldestWaitingMs === null ? "–" : durationText(oldestWaitingMs)),
    },
  ];
  return (
    <Section
      title={texts.shards}
      aside={<Button onClick={() => setAll(!isAll)}>{isAll ? texts.showBusy : texts.showAll(of.length)}</Button>}
    >
      <p class={styles["about"]}>{texts.sums(sum("waiting"), sum("active"))}</p>
      {shown.length === 0 ? (
        <p class={styles["quiet"]}>{texts.quiet}</p>
      ) : (
        <Table label={texts.shards} rows={shown} columns={columns} keyOf={({ shard }) => `${shard}`} />
      )}
    </Section>
  );
}

function Redis({ of }: { readonly of: Cluster["redis"] }) {
  if (of.length === 0) return null;
  return (
    <Section title={texts.redis}>
      <Table
        label={texts.redis}
        rows={of}
        keyOf={({ address }) => address}
        columns={[
          { name: texts.node, cell: ({ address }) => <code>{address}</code> },
          { name: texts.memory, width: "110px", align: "end", cell: (one) => sizeText(one.usedMemoryBytes) },
          {
            name: texts.limit,
            width: "110px",
            align: "end",
            cell: ({ maxMemoryBytes }) => (maxMemoryBytes === null ? texts.noLimit : sizeText(maxMemoryBytes)),
          },
        ]}
      />
    </Section>
  );
}

function DeadLetters({ totals }: { readonly totals: Cluster["deadLetters"] }) {
  const [open, setOpen] = useState<Letter | undefined>(undefined);
  const mayRedrive = may("redriveDeadLetters");
  const letters = usePages(
    (after, signal) =>
      api.get("/cluster/dead-letters", {
        query: { pageSize: 50, sort: "-at", ...(after === undefined ? {} : { after }) },
        signal,
      }),
    [totals.total],
  );
  const redrive = ({ id }: Letter) => api.post("/cluster/dead-letters/{id}/redrive", { path: { id }, body: {} });
  const redriveOne = async (letter: Letter) => {
    await redrive(letter);
    tell(texts.redriven);
    letters.reload();
  };
  const redriveAll = async () => {
    const outcomes = await Promise.allSettled(letters.list.map(redrive));
    const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [problemText(one.reason)] : []));
    tell(texts.redrivenAll(outcomes.length - refused.length));
    if (refused.length > 0) tell([...new Set(refused)].join("; "), "failed");
    letters.reload();
  };
  const columns: readonly Column<Letter>[] = [
    {
      name: texts.reason,
      cell: (letter) => (
        <>
          <RowButton onClick={() => setOpen(letter)}>{letter.reason}</RowButton>
          <Under>
            {texts.kinds[letter.kind]} · {texts.shard} {letter.shard}
          </Under>
        </>
      ),
    },
    {
      name: texts.run,
      width: "24%",
      needs: "wide",
      cell: ({ runId }) =>
        runId === null ? (
          "–"
        ) : (
          <Above>
            <a href={`/runs/${runId}`}>{runId}</a>
          </Above>
        ),
    },
    { name: texts.at, width: "104px", needs: "wide", align: "end", cell: ({ at }) => <Ago at={at} /> },
    {
      name: texts.redrive,
      isQuiet: true,
      width: "116px",
      align: "end",
      cell: (letter) =>
        mayRedrive ? (
          <Above>
            <Button onClick={() => redriveOne(letter)}>{texts.redrive}</Button>
          </Above>
        ) : null,
    },
  ];
  return (
    <Section
      title={texts.letters}
      aside={mayRedrive && letters.list.length > 1 ? <Button onClick={redriveAll}>{texts.redriveAll}</Button> : null}
    >
      {totals.total === 0 ? null : <p class={styles["about"]}>{texts.total(totals.messages, totals.envelopes)}</p>}
      <Loaded of={letters.pages} rows={2}>
        {() =>
          letters.list.length === 0 ? (
            <p class={styles["quiet"]}>{texts.noLetters}</p>
          ) : (
            <Table label={texts.letters} rows={letters.list} columns={columns} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      <MoreButton of={letters} />
      {open === undefined ? null : (
        <Dialog title={texts.letter} wide onClose={() => setOpen(undefined)}>
          <p class={styles["about"]}>{open.reason}</p>
          <Sent text={JSON.stringify(open.letter, null, 2)} label={texts.letter} />
        </Dialog>
      )}
    </Section>
  );
}
