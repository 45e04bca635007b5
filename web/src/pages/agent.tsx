/** One agent: its labels and who set them, what it runs, and draining. */
import { useState } from "preact/hooks";
import { may, projects } from "../app/session.ts";
import { api } from "../api/client.ts";
import { pipelineName } from "../api/names.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, Page, Panel, Section } from "../parts/page.tsx";
import { RowLink, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { type Agent, AgentState, Slots } from "./agent-parts.tsx";
import { shortId } from "./run-cells.tsx";
import styles from "./forms.module.css";

const texts = words.agents;

type Reach = NonNullable<Agent["reach"]>;

function reachText({ tenantId, projectIds }: Reach): string {
  if (projectIds === null) return texts.ofTenant(tenantId);
  return projectIds.map((id) => projects.value.find(({ projectId }) => projectId === id)?.name ?? id).join(", ");
}

export function AgentPage({ agentId }: { readonly agentId: string }) {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const agent = useResource((signal) => api.get("/agents/{agentId}", { path: { agentId }, signal }), [agentId]);
  useLive({ channel: "channel_agents", params: { agentId } }, ({ type }) => {
    if (type === "agent") agent.reload();
  });
  const drain = async () => {
    await api.post("/agents/{agentId}/drain", { path: { agentId }, body: reason.trim() === "" ? {} : { reason } });
    setAsking(false);
    tell(texts.drained);
    agent.reload();
  };
  const undrain = async () => {
    await api.post("/agents/{agentId}/undrain", { path: { agentId }, body: {} });
    tell(texts.undrained);
    agent.reload();
  };
  const { value } = agent;
  const actions =
    value === undefined || !may("manageAgents") ? undefined : value.draining ? (
      <Button onClick={undrain}>{texts.undrain}</Button>
    ) : (
      <Button onClick={() => setAsking(true)}>{texts.drain}</Button>
    );
  return (
    <Page title={value?.name ?? texts.title} crumbs={[["/agents", texts.title]]} actions={actions}>
      <Loaded of={agent}>
        {(shown) => (
          <>
            <Panel padded>
              <Facts
                of={[
                  [texts.state, <AgentState agent={shown} />],
                  ...(shown.drain === null
                    ? []
                    : ([
                        [
                          texts.draining,
                          <>
                            {texts.since(shown.drain.by)}, <Ago at={shown.drain.at} />
                            {shown.drain.reason === "" ? null : `: ${shown.drain.reason}`}
                          </>,
                        ],
                      ] as const)),
                  [texts.slots, <Slots agent={shown} />],
                  [texts.version, shown.version],
                  [texts.registered, <Ago at={shown.createdAt} />],
                  [texts.reach, shown.reach === null ? texts.everywhere : reachText(shown.reach)],
                ]}
              />
            </Panel>
            <Section title={texts.holds}>
              {shown.jobs.length === 0 ? (
                <p class={styles["quiet"]}>{shown.jobsHeld === 0 ? texts.idle : texts.hidden(shown.jobsHeld)}</p>
              ) : (
                <Table
                  label={texts.holds}
                  rows={shown.jobs}
                  keyOf={({ jobId }) => jobId}
                  columns={[
                    {
                      name: words.runs.pipeline,
                      cell: ({ runId, pipelineId }) => (
                        <RowLink href={`/runs/${runId}`}>
                          {pipelineName(pipelineId)} <code>{shortId(runId)}</code>
                        </RowLink>
                      ),
                    },
                  ]}
                />
              )}
            </Section>
            <Section title={texts.labels}>
              <Panel padded>
                <Facts
                  of={shown.labelSources.map(({ key, value: label, setBy, by, at }) => [
                    key,
                    <>
                      <code>{label}</code>{" "}
                      <span class={styles["quiet"]}>
                        {texts.setBy[setBy]}
                        {by === null ? null : ` ${by}`}
                        {at === null ? null : (
                          <>
                            , <Ago at={at} />
                          </>
                        )}
                      </span>
                    </>,
                  ])}
                />
              </Panel>
            </Section>
          </>
        )}
      </Loaded>
      {isAsking ? (
        <Dialog
          title={texts.drainTitle}
          onClose={() => setAsking(false)}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>{words.actions.cancel}</Button>
              <Button kind="primary" onClick={drain}>
                {texts.drain}
              </Button>
            </>
          }
        >
          <p class={styles["lead"]}>{texts.drainText}</p>
          <label class={styles["field"]}>
            {texts.reason}
            <input value={reason} autoFocus onInput={(event) => setReason(event.currentTarget.value)} />
          </label>
        </Dialog>
      ) : null}
    </Page>
  );
}
