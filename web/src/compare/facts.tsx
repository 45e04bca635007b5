/** What two runs were started with and what became of them, fact by fact. */
import type { ComponentChildren } from "preact";
import { pipelineName } from "../api/names.ts";
import { Status } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { durationText } from "../parts/time-texts.ts";
import { waterfallOf } from "../run/critical-path.ts";
import { shortId } from "../run/run-facts.ts";
import { type Run, viewOf } from "../run/run-view.ts";
import { runWords } from "../run/run-words.ts";
import { compareWords } from "./compare-words.ts";
import { isLonger, startedWith } from "./pair-runs.ts";
import styles from "./compare.module.css";

const texts = compareWords.facts;

interface Fact {
  readonly name: string;
  readonly a: ComponentChildren;
  readonly b: ComponentChildren;
  readonly differs: boolean;
}

export function Facts({ a, b, isAll }: { readonly a: Run; readonly b: Run; readonly isAll: boolean }) {
  const facts = factsOf(a, b);
  const shown = isAll ? facts : facts.filter(({ differs }) => differs);
  if (shown.length === 0) return <p class={styles["quiet"]}>{texts.same}</p>;
  const columns: readonly Column<Fact>[] = [
    { name: texts.fact, width: "26%", cell: ({ name }) => <span class={styles["wrap"]}>{name}</span> },
    { name: compareWords.this_, cell: (fact) => <span class={styles["wrap"]}>{fact.a}</span> },
    { name: compareWords.other, cell: (fact) => <span class={styles["wrap"]}>{fact.b}</span> },
  ];
  return (
    <Table
      label={texts.title}
      rows={shown}
      columns={columns}
      keyOf={({ name }) => name}
      stateOf={({ differs }) => (differs ? undefined : "faint")}
    />
  );
}

function factsOf(a: Run, b: Run): readonly Fact[] {
  const text = (name: string, of: (run: Run) => string, show: (text: string) => ComponentChildren = plain): Fact => {
    const [one, other] = [of(a), of(b)];
    return { name, a: show(one), b: show(other), differs: one !== other };
  };
  const time = (name: string, one: number, other: number): Fact => ({
    name,
    a: durationText(one),
    b: durationText(other),
    differs: isLonger(one, other),
  });
  const withA = startedWith(a, texts);
  const withB = startedWith(b, texts);
  const names = [...new Set([...withA.keys(), ...withB.keys()])];
  const [spentA, spentB] = [a, b].map((run) => waterfallOf(viewOf(run), Date.now()).spent);
  const kinds = Object.keys(compareWords.spent) as (keyof typeof compareWords.spent)[];
  return [
    text(
      texts.status,
      ({ status }) => status,
      (status) => <Status of={status} />,
    ),
    text(texts.reason, ({ reason }) => reason),
    text(texts.pipeline, ({ pipelineId }) => pipelineName(pipelineId)),
    text(texts.trigger, ({ trigger }) => trigger.event?.name ?? runWords.triggers[trigger.kind]),
    text(texts.by, ({ triggeredBy }) => triggeredBy),
    text(texts.ref, ({ trigger }) => trigger.ref),
    text(texts.commit, ({ commitSha }) => commitSha, code),
    text(texts.revision, ({ revisionId }) => revisionId, code),
    text(texts.attempt, ({ attempt }) => `${attempt}`),
    ...names.map((name) => ({
      name,
      a: plain(withA.get(name) ?? ""),
      b: plain(withB.get(name) ?? ""),
      differs: withA.get(name) !== withB.get(name),
    })),
    text(texts.jobs, ({ jobCount }) => `${jobCount}`),
    time(texts.duration, a.duration, b.duration),
    ...kinds.flatMap((kind) => {
      const [one, other] = [spentA?.get(kind) ?? 0, spentB?.get(kind) ?? 0];
      return one === 0 && other === 0 ? [] : [time(compareWords.spent[kind], one, other)];
    }),
  ];
}

function plain(text: string): ComponentChildren {
  return text === "" ? texts.none : text;
}

function code(text: string): ComponentChildren {
  if (text === "") return texts.none;
  return <code title={text}>{/^[0-9a-f]{40,64}$/.test(text) ? text.slice(0, 12) : shortId(text)}</code>;
}
