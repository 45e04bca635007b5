/** The tests of two runs: how many, and which fail in one of the runs alone. */
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { Table, Under } from "../parts/table.tsx";
import { durationText } from "../parts/time-texts.ts";
import type { Run } from "../run/run-view.ts";
import { compareWords } from "./compare-words.ts";
import styles from "./compare.module.css";

const texts = compareWords.tests;
const MOST = 100;
type TestCase = Schemas["TestCase"];

export function Tests({ a, b }: { readonly a: Run; readonly b: Run }) {
  if (a.tests === null && b.tests === null) return null;
  return (
    <Section title={texts.title}>
      <Counts a={a.tests} b={b.tests} />
      {(a.tests?.failed ?? 0) + (b.tests?.failed ?? 0) === 0 ? null : <Failures a={a} b={b} />}
    </Section>
  );
}

function Counts({ a, b }: { readonly a: Schemas["TestCounts"] | null; readonly b: Schemas["TestCounts"] | null }) {
  const rows = (["total", "failed", "skipped", "flaky"] as const).map((name) => ({
    name: texts[name],
    a: a === null ? "–" : `${a[name]}`,
    b: b === null ? "–" : `${b[name]}`,
  }));
  const time = (counts: typeof a) => (counts === null ? "–" : durationText(counts.durationMs));
  return (
    <Table
      label={texts.title}
      rows={[...rows, { name: texts.duration, a: time(a), b: time(b) }]}
      keyOf={({ name }) => name}
      stateOf={(row) => (row.a === row.b ? "faint" : undefined)}
      columns={[
        { name: compareWords.facts.fact, width: "26%", cell: ({ name }) => name },
        { name: compareWords.this_, cell: (row) => row.a },
        { name: compareWords.other, cell: (row) => row.b },
      ]}
    />
  );
}

const keyOf = ({ step, suite, name }: TestCase): string => [step.job, step.step, suite, name].join("\u0000");

function Failures({ a, b }: { readonly a: Run; readonly b: Run }) {
  const failures = useResource(
    (signal) =>
      Promise.all(
        [a, b].map(({ runId }) =>
          api.get("/pipelines/runs/{runId}/test-cases", {
            path: { runId },
            query: { filter: "failed", limit: MOST },
            signal,
          }),
        ),
      ),
    [a.runId, b.runId, a.tests?.failed, b.tests?.failed],
  );
  return (
    <Loaded of={failures} rows={3}>
      {(pages) => {
        const [ofA, ofB] = pages.map(({ list }) => new Map(list.map((test) => [keyOf(test), test] as const)));
        const only = (one: typeof ofA, other: typeof ofA) =>
          [...(one ?? [])].flatMap(([key, test]) => (other?.has(key) === true ? [] : [test]));
        const newly = only(ofA, ofB);
        const mended = only(ofB, ofA);
        const both = [...(ofA ?? [])].flatMap(([key, test]) => (ofB?.has(key) === true ? [test] : []));
        return (
          <>
            {newly.length + mended.length === 0 ? <p class={styles["quiet"]}>{texts.sameFailures}</p> : null}
            <Cases title={texts.newlyFailed} of={newly} runId={a.runId} />
            <Cases title={texts.mended} of={mended} runId={b.runId} />
            <Cases title={texts.both} of={both} runId={a.runId} />
            {pages.some(({ next }) => next !== null) ? <p class={styles["quiet"]}>{texts.cut(MOST)}</p> : null}
          </>
        );
      }}
    </Loaded>
  );
}

function Cases({
  title,
  of,
  runId,
}: {
  readonly title: string;
  readonly of: readonly TestCase[];
  readonly runId: string;
}) {
  if (of.length === 0) return null;
  return (
    <div class={styles["cases"]}>
      <h3>
        {title} ({of.length})
      </h3>
      <ul>
        {of.map((test) => (
          <li key={keyOf(test)}>
            <a href={`/runs/${runId}/steps/${test.step.stepRunId}`}>{test.name}</a>
            <Under>
              {[test.suite, `${test.step.job} / ${test.step.step}`].filter((part) => part !== "").join(" · ")}
            </Under>
          </li>
        ))}
      </ul>
    </div>
  );
}
