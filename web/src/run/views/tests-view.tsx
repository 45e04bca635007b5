/** The tests of a run: counts by step, and the cases that matter. */
import { useEffect, useState } from "preact/hooks";
import flask from "lucide-static/icons/flask-conical.svg?raw";
import { api, type Schemas } from "../../api/client.ts";
import { useResource } from "../../api/resource.ts";
import { Button } from "../../parts/button.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Blank } from "../../parts/problem.tsx";
import { StatusIcon } from "../../parts/status.tsx";
import { durationText } from "../../parts/time-texts.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, jobHasEnded } from "../run-view.ts";
import type { ViewProps } from "../view-props.ts";
import styles from "./tests-view.module.css";

type Filter = "failed" | "flaky" | "slowest" | "all";
const FILTERS: readonly Filter[] = ["failed", "flaky", "slowest", "all"];
const PAGE = 50;
const texts = runWords.tests;

export function TestsView({ view }: ViewProps) {
  const { runId } = view.head;
  const ended = hasEnded(view) ? -1 : view.jobs.filter(({ newest }) => jobHasEnded(newest)).length;
  const reports = useResource(
    (signal) => api.get("/pipelines/runs/{runId}/test-reports", { path: { runId }, query: { limit: PAGE }, signal }),
    [runId, ended],
  );
  const [filter, setFilter] = useState<Filter | undefined>(undefined);
  return (
    <Loaded of={reports}>
      {({ tests, list }) => {
        if (tests === null || list.length === 0) {
          return (
            <Blank icon={flask} title={texts.none}>
              {texts.noneText}
            </Blank>
          );
        }
        const shown = filter ?? (tests.failed > 0 ? "failed" : tests.flaky > 0 ? "flaky" : "slowest");
        return (
          <>
            <div class={styles["top"]}>
              <strong>{texts.total(tests.total)}</strong>
              <div class={styles["filters"]} role="group" aria-label={texts.filter}>
                {FILTERS.map((word) => (
                  <Button key={word} kind="quiet" pressed={word === shown} onClick={() => setFilter(word)}>
                    {texts[word]}
                    {word === "failed" || word === "flaky" ? ` ${tests[word]}` : ""}
                  </Button>
                ))}
              </div>
            </div>
            <Cases key={shown} runId={runId} filter={shown} />
          </>
        );
      }}
    </Loaded>
  );
}

function Cases({ runId, filter }: { readonly runId: string; readonly filter: Filter }) {
  const [list, setList] = useState<readonly Schemas["TestCase"][]>([]);
  const [after, setAfter] = useState<string | undefined>(undefined);
  const page = useResource(
    (signal) => {
      const query = { filter, limit: PAGE, ...(after === undefined ? {} : { after }) };
      return api.get("/pipelines/runs/{runId}/test-cases", { path: { runId }, query, signal });
    },
    [runId, filter, after],
  );
  const value = page.value;
  useEffect(() => {
    if (value !== undefined) setList((before) => [...before, ...value.list]);
  }, [value]);
  return (
    <Loaded of={page}>
      {({ next }) =>
        list.length === 0 && value?.list.length === 0 ? (
          <p class={styles["none"]}>{texts.noneLeft}</p>
        ) : (
          <>
            <ul class={styles["list"]}>
              {list.map((test, at) => (
                <Case key={at} runId={runId} of={test} />
              ))}
            </ul>
            {next === null ? null : <Button onClick={() => setAfter(next)}>{texts.more}</Button>}
          </>
        )
      }
    </Loaded>
  );
}

const SHAPES = { failed: "failed", passed: "success", skipped: "skipped" } as const;

function Case({ runId, of: test }: { readonly runId: string; readonly of: Schemas["TestCase"] }) {
  return (
    <li>
      <div class={styles["line"]}>
        <StatusIcon of={SHAPES[test.outcome]} />
        <span class={styles["name"]}>
          {test.suite === "" ? null : <span class={styles["suite"]}>{test.suite} › </span>}
          {test.name}
        </span>
        {test.isFlaky ? <span class={styles["flaky"]}>{texts.flakyMark}</span> : null}
        <span class={styles["side"]}>
          {test.file === null ? null : <code>{test.line === null ? test.file : `${test.file}:${test.line}`}</code>}
          <a href={`/runs/${runId}/steps/${test.step.stepRunId}`}>
            {test.step.job} / {test.step.step}
          </a>
          <span>{durationText(test.durationMs)}</span>
        </span>
      </div>
      {test.message === "" ? null : <pre class={styles["message"]}>{test.message}</pre>}
    </li>
  );
}
