/** The runs of all pipelines, newest first. The filter is in the address. */
import { useState } from "preact/hooks";
import circlePlay from "lucide-static/icons/circle-play.svg?raw";
import rotate from "lucide-static/icons/rotate-ccw.svg?raw";
import square from "lucide-static/icons/square.svg?raw";
import { useKeys } from "../app/keys.ts";
import { useFilters } from "../app/place.ts";
import { SavedFilterList } from "../app/saved-filter-list.tsx";
import { currentProject, may } from "../app/session.ts";
import { api } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Chips, FilterBar, FilterText } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { hasEnded, type StatusWord } from "../parts/status-words.ts";
import { Above, type Column, Table } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";
import { pipelineName } from "../api/names.ts";
import { words } from "../words.ts";
import { pipelineColumn, statusColumn, timeColumns } from "./run-cells.tsx";
import { type Run, useRuns } from "./run-list.ts";
import { knownStatuses, statusesWith } from "./status-filter.ts";
import styles from "./runs.module.css";

const texts = words.runs;
const FILTERS = ["status", "mine", "trigger", "ref", "triggeredBy", "pipelineId", "from", "before"] as const;

export function RunsPage() {
  const [filters, change, choose] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const project = filters["projectId"] ?? currentProject.value?.projectId;
  const given = FILTERS.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]] as const]));
  const after = filters["after"];
  const query = {
    limit: 50,
    ...Object.fromEntries(given),
    ...(project === undefined ? {} : { projectId: project }),
    ...(after === undefined ? {} : { after }),
  };
  const runs = useRuns(query, after === undefined);
  const toggle = (runId: string) => {
    const next = new Set(chosen);
    if (!next.delete(runId)) next.add(runId);
    setChosen(next);
  };
  useKeys([
    {
      keys: "s",
      does: texts.toggle,
      run: () => {
        const row = document.activeElement?.closest("tr");
        const box = row?.querySelector<HTMLInputElement>("input[type=checkbox]");
        box?.click();
        return box !== null && box !== undefined;
      },
    },
  ]);

  const select: Column<Run> = {
    name: texts.select,
    isQuiet: true,
    width: "40px",
    needs: "wide",
    cell: ({ runId, pipelineId }) => (
      <Above>
        <label class={styles["box"]}>
          <input
            type="checkbox"
            checked={chosen.has(runId)}
            aria-label={texts.selectRun(`${pipelineName(pipelineId)} ${runId}`)}
            onChange={() => toggle(runId)}
          />
        </label>
      </Above>
    ),
  };
  const columns = [...(may("controlRun") ? [select] : []), pipelineColumn, statusColumn, ...timeColumns];
  const type = (name: string) => (value: string) => change({ [name]: value, after: "" });
  const pick = (name: string) => (value: string) => choose({ [name]: value, after: "" });
  const status = knownStatuses(filters["status"] ?? "");
  return (
    <Page title={texts.title}>
      <FilterBar>
        <Chips label={texts.status} options={statusesWith(status)} value={status} onChange={pick("status")} />
        <Chips
          label={texts.mine}
          options={[["true", texts.mine]]}
          value={filters["mine"] ?? ""}
          onChange={(value) => pick("mine")(filters["mine"] === value ? "" : value)}
        />
        <select
          aria-label={texts.trigger}
          value={filters["trigger"] ?? ""}
          onChange={(event) => pick("trigger")(event.currentTarget.value)}
        >
          <option value="">{texts.anyTrigger}</option>
          {Object.entries(texts.triggers).map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
        <FilterText label={texts.ref} value={filters["ref"] ?? ""} onChange={type("ref")} isMain />
        <FilterText label={texts.by} value={filters["triggeredBy"] ?? ""} onChange={type("triggeredBy")} />
        <SavedFilterList />
      </FilterBar>
      <Loaded of={runs} rows={10}>
        {({ list, next }) => (
          <>
            {list.length === 0 ? (
              <NoRuns
                isFiltered={given.length > 0}
                onClear={() => choose(Object.fromEntries(FILTERS.map((n) => [n, ""])))}
              />
            ) : (
              <Table
                label={texts.title}
                columns={columns}
                rows={list}
                keyOf={({ runId }) => runId}
                stateOf={({ runId }) => (chosen.has(runId) ? "chosen" : undefined)}
              />
            )}
            <div class={styles["pages"]}>
              {after === undefined ? null : <Button onClick={() => choose({ after: "" })}>{texts.newest}</Button>}
              {next === null ? null : <Button onClick={() => choose({ after: next })}>{texts.older}</Button>}
            </div>
            {chosen.size === 0 ? null : (
              <Together
                runs={list.filter(({ runId }) => chosen.has(runId))}
                onDone={() => {
                  setChosen(new Set());
                  runs.reload();
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function NoRuns({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  return isFiltered ? (
    <Blank icon={circlePlay} title={texts.none} actions={<Button onClick={onClear}>{texts.clear}</Button>} />
  ) : (
    <Blank
      icon={circlePlay}
      title={texts.noneYet}
      actions={
        <ButtonLink href="/pipelines" kind="primary">
          {texts.toPipelines}
        </ButtonLink>
      }
    >
      {texts.noneYetText}
    </Blank>
  );
}

/** What can be done with the selected runs at once. */
function Together({ runs, onDone }: { readonly runs: readonly Run[]; readonly onDone: () => void }) {
  const [isAsking, ask] = useState(false);
  const live = runs.filter(({ status }) => !hasEnded(status as StatusWord));
  const ended = runs.filter(({ status }) => hasEnded(status as StatusWord));
  const each = async (some: readonly Run[], call: (run: Run) => Promise<unknown>, done: (n: number) => string) => {
    const outcomes = await Promise.allSettled(some.map(call));
    const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [problemText(one.reason)] : []));
    if (outcomes.length > refused.length) tell(done(outcomes.length - refused.length));
    if (refused.length > 0) tell(texts.someFailed(refused.length, [...new Set(refused)].join("; ")), "failed");
    onDone();
  };
  const pathOf = ({ pipelineId, runId }: Run) => ({ path: { pipelineId, runId } });
  const stop = async (): Promise<void> => {
    ask(false);
    await each(
      live,
      (run) => api.post("/pipelines/{pipelineId}/runs/{runId}/stop", { ...pathOf(run), body: {} }),
      texts.stopped,
    );
  };
  return (
    <div class={styles["together"]} role="region" aria-label={texts.selected(runs.length)}>
      <strong>{texts.selected(runs.length)}</strong>
      <Button icon={square} kind="danger" disabled={live.length === 0} onClick={() => ask(true)}>
        {texts.stop} ({live.length})
      </Button>
      <Button
        icon={rotate}
        disabled={ended.length === 0}
        onClick={() =>
          each(
            ended,
            (run) => api.post("/pipelines/{pipelineId}/runs/{runId}/rerun", { ...pathOf(run), body: { scope: "all" } }),
            texts.rerunDone,
          )
        }
      >
        {texts.rerun} ({ended.length})
      </Button>
      {isAsking ? (
        <Dialog
          title={texts.stopTitle(live.length)}
          onClose={() => ask(false)}
          actions={
            <>
              <Button onClick={() => ask(false)}>{words.actions.cancel}</Button>
              <Button kind="danger" onClick={stop}>
                {texts.stop}
              </Button>
            </>
          }
        >
          <p>{texts.stopText}</p>
        </Dialog>
      ) : null}
    </div>
  );
}
