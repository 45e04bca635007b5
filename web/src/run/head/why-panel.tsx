/** Why a job or the run waits: each fact that the server knows, with links to what holds it. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import x from "lucide-static/icons/x.svg?raw";
import type { Schemas } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { useAgentNames } from "../agent-names.ts";
import { isWaiting, shortId } from "../run-facts.ts";
import type { RunStore } from "../run-store.ts";
import { runWords } from "../run-words.ts";
import type { RunView, Wait } from "../run-view.ts";
import styles from "./why-panel.module.css";

type AgentFacts = Schemas["AgentFacts"];
type HeldJob = Schemas["HeldJob"];

const texts = runWords.wait;
/** Other waiting jobs that the panel lists below the one that it explains. */
const MOST_OTHERS = 8;

export function WhyPanel({
  store,
  view,
  jobId,
  onPick,
  onClose,
}: {
  readonly store: RunStore;
  readonly view: RunView;
  /** Null explains the wait of the run. */
  readonly jobId: string | null;
  readonly onPick: (jobId: string) => void;
  readonly onClose: () => void;
}) {
  useEffect(() => {
    if (jobId !== null) store.readJobFacts(jobId).catch(() => {});
  }, [jobId, view.number]);
  const waiting = view.jobs.filter(isWaiting);
  const job = view.jobs.find(({ newest }) => newest.jobId === jobId)?.newest ?? null;
  const fresh = jobId === null ? undefined : store.facts.value.get(jobId);
  const wait = job === null ? view.head.waitingFor : (fresh?.waitingFor ?? job.waitingFor);
  const others = waiting.filter(({ newest }) => newest.jobId !== jobId);
  return (
    <section class={styles["panel"]} aria-label={runWords.waitsTitle}>
      <div class={styles["top"]}>
        <h2>{job === null ? runWords.waitsTitle : job.name}</h2>
        <Button kind="quiet" icon={x} label={runWords.actions.close} onClick={onClose} />
      </div>
      {wait === null || wait === undefined ? <p>{texts.nothing}</p> : <WaitFacts wait={wait} />}
      {others.length === 0 ? null : (
        <ul class={styles["others"]}>
          {others.slice(0, MOST_OTHERS).map(({ key, newest }) => (
            <li key={key}>
              <button type="button" onClick={() => onPick(newest.jobId)}>
                {newest.name}
              </button>{" "}
              <span>{newest.waitingFor?.text}</span>
            </li>
          ))}
          {others.length > MOST_OTHERS ? <li>{runWords.graph.leftOut(others.length - MOST_OTHERS)}</li> : null}
        </ul>
      )}
    </section>
  );
}

function WaitFacts({ wait }: { readonly wait: Wait }) {
  const plain = "agents" in wait || "quota" in wait || "needs" in wait || "ahead" in wait ? wait : undefined;
  return (
    <div class={styles["facts"]}>
      <p class={styles["text"]}>{wait.text}</p>
      {"group" in wait ? (
        <Fact name={texts.holder}>
          {wait.holder === null ? "–" : <Holder id={wait.holder} />} · {texts.ahead(wait.ahead)}
        </Fact>
      ) : null}
      {plain !== undefined && "agents" in plain && plain.agents !== undefined ? <Agents facts={plain.agents} /> : null}
      {plain !== undefined && "quota" in plain && plain.quota !== undefined ? (
        <Fact name={texts.quota(plain.quota.name, plain.quota.taken, plain.quota.limit)}>
          <Jobs of={plain.quota.jobs ?? []} />
        </Fact>
      ) : null}
      {plain !== undefined && "ahead" in plain && plain.ahead !== undefined ? <p>{texts.ahead(plain.ahead)}</p> : null}
      {"approvalId" in wait ? <p>{texts.approval}</p> : null}
    </div>
  );
}

function Agents({ facts }: { readonly facts: AgentFacts }) {
  const names = useAgentNames();
  const agent = (id: string): ComponentChildren => <a href={`/agents/${id}`}>{names.get(id) ?? shortId(id)}</a>;
  return (
    <>
      <p>{facts.online === 0 ? texts.offline : texts.online(facts.online, facts.matching)}</p>
      {facts.failing.length === 0 ? null : (
        <ul class={styles["clauses"]}>
          {facts.failing.map(({ clause, agents, agentIds }) => (
            <li key={clause}>
              <code>{clause}</code> {texts.clause("", agents).replace(/^: /, "")}:{" "}
              {agentIds.map((id, at) => [at === 0 ? "" : ", ", agent(id)])}
            </li>
          ))}
        </ul>
      )}
      {facts.nearest === null ? null : (
        <Fact name={texts.nearest}>
          {agent(facts.nearest.agentId)} {texts.nearestText(facts.nearest.failing.join(", "))}
        </Fact>
      )}
      {facts.busy.map(({ agentId, busy, slots, takesNoJobs, jobs }) => (
        <Fact key={agentId} name={agent(agentId)}>
          {takesNoJobs === "" ? texts.busy(busy, slots) : takesNoJobs} <Jobs of={jobs ?? []} />
        </Fact>
      ))}
    </>
  );
}

function Jobs({ of }: { readonly of: readonly HeldJob[] }) {
  return (
    <>
      {of.map(({ runId, jobId }) => (
        <span key={jobId}>
          {" "}
          <a href={`/runs/${runId}`}>
            {texts.run} {shortId(runId)}
          </a>
        </span>
      ))}
    </>
  );
}

/** The holder of a group: a run, or a job of one. */
function Holder({ id }: { readonly id: string }) {
  const runId = /run_\w+/.exec(id)?.[0];
  return runId === undefined ? <code>{id}</code> : <a href={`/runs/${runId}`}>{`${texts.run} ${shortId(runId)}`}</a>;
}

function Fact({ name, children }: { readonly name: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <div class={styles["fact"]}>
      <span>{name}</span>
      <span>{children}</span>
    </div>
  );
}
