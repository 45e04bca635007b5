/** What needs the reader: approvals, what runs and what waits with its reason, and the reader's failures. */
import waves from "lucide-static/icons/waves.svg?raw";
import sparkles from "lucide-static/icons/workflow.svg?raw";
import { currentProject, may, waitsForReader } from "../app/session.ts";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { ButtonLink } from "../parts/button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Table } from "../parts/table.tsx";
import { words } from "../words.ts";
import { ApprovalList } from "./approval-list.tsx";
import { pipelineColumn, statusColumn, timeColumns } from "./run-cells.tsx";
import { type Run, useRuns } from "./run-list.ts";

const texts = words.home;
const COLUMNS = [pipelineColumn, statusColumn, ...timeColumns];
/** Older failures need nobody any more. */
const FAILED_WITHIN_MS = 3 * 24 * 60 * 60 * 1_000;

export function HomePage() {
  const projectId = currentProject.value?.projectId;
  const scope = projectId === undefined ? {} : { projectId };
  const active = useRuns({ ...scope, status: "pending,running,paused", limit: 25 }, true);
  const failures = useResource(
    async (signal) => {
      const query = { ...scope, mine: "true" as const, status: "failed,partial", limit: 10 };
      const { list } = await api.get("/runs", { query, signal });
      return list.filter(({ createdAt }) => Date.parse(createdAt) > Date.now() - FAILED_WITHIN_MS);
    },
    [projectId, active.value?.list.length],
  );
  const approvals = useResource(
    (signal) => api.get("/approvals", { query: { ...scope, status: "pending", pageSize: 50 }, signal }),
    [projectId],
  );
  const pipelines = useResource(
    (signal) => api.get("/pipelines", { query: { ...scope, pageSize: 1 }, signal }),
    [projectId],
  );
  useLive({ channel: "channel_approvals", params: scope }, ({ type }) => {
    if (type === "approval" || type === "removed") approvals.reload();
  });

  if (pipelines.value?.total === 0) return <Welcome />;
  const mine = approvals.value?.list.filter(waitsForReader) ?? [];
  const isQuiet =
    active.value?.list.length === 0 &&
    failures.value?.length === 0 &&
    approvals.value !== undefined &&
    mine.length === 0;
  const all = (href: string) => <a href={href}>{texts.all}</a>;
  return (
    <Page title={texts.title}>
      {isQuiet ? (
        <Blank icon={waves} title={texts.nothing} actions={<ButtonLink href="/runs">{words.runs.title}</ButtonLink>}>
          {texts.nothingText}
        </Blank>
      ) : null}
      {mine.length === 0 ? null : (
        <Section title={texts.approvals} aside={all("/approvals")}>
          <ApprovalList approvals={mine} onDecided={approvals.reload} />
        </Section>
      )}
      <Loaded of={active}>
        {({ list }) =>
          list.length === 0 ? null : (
            <Section title={texts.active} aside={all("/runs?status=pending,running,paused")}>
              <RunTable label={texts.active} runs={list} />
            </Section>
          )
        }
      </Loaded>
      {failures.value === undefined || failures.value.length === 0 ? null : (
        <Section title={texts.failures} aside={all("/runs?status=failed,partial&mine=true")}>
          <RunTable label={texts.failures} runs={failures.value} />
        </Section>
      )}
    </Page>
  );
}

function RunTable({ label, runs }: { readonly label: string; readonly runs: readonly Run[] }) {
  return <Table label={label} columns={COLUMNS} rows={runs} keyOf={({ runId }) => runId} />;
}

function Welcome() {
  const make = (
    <ButtonLink href="/pipelines/new" kind="primary">
      {texts.first}
    </ButtonLink>
  );
  return (
    <Page title={texts.welcome}>
      <Blank icon={sparkles} title={words.pipelines.noneYet} actions={may("writePipelines") ? make : null}>
        {texts.welcomeText}
      </Blank>
    </Page>
  );
}
