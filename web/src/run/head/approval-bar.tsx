/** What waits for a decision of people, with the means to decide. */
import { useState } from "preact/hooks";
import check from "lucide-static/icons/check.svg?raw";
import x from "lucide-static/icons/x.svg?raw";
import { api, type Schemas } from "../../api/client.ts";
import { hasApproved } from "../../app/session.ts";
import { useResource } from "../../api/resource.ts";
import { Button } from "../../parts/button.tsx";
import { StatusIcon } from "../../parts/status.tsx";
import { tell } from "../../parts/toast.tsx";
import { useSubmit } from "../../parts/use-submit.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, type RunView } from "../run-view.ts";
import styles from "./approval-bar.module.css";

type Approval = Schemas["ApprovalForCaller"];

export function ApprovalBar({ view }: { readonly view: RunView }) {
  const { runId } = view.head;
  // Jobs that wait for an approval, and the votes so far: each change of them is a reason to ask again.
  const waiting = view.jobs.filter(({ newest }) => newest.waitingFor?.reason === "approval").map(({ key }) => key);
  const isAsked = waiting.length > 0 || view.head.approvals.some(({ status }) => status === "pending");
  const votes = view.lastEvent?.object === "approval" ? view.lastEvent.number : 0;
  const approvals = useResource(
    async (signal) => {
      if (!isAsked || hasEnded(view)) return [];
      return (await api.get("/pipelines/runs/{runId}/approvals", { path: { runId }, signal })).list;
    },
    [runId, waiting.join(), votes, isAsked],
  );
  const pending = (approvals.value ?? []).filter(({ status }) => status === "pending");
  if (pending.length === 0 || hasEnded(view)) return null;
  return (
    <>
      {pending.map((approval) => (
        <PendingApproval key={approval.approvalId} approval={approval} onDecided={approvals.reload} />
      ))}
    </>
  );
}

function PendingApproval({ approval, onDecided }: { readonly approval: Approval; readonly onDecided: () => void }) {
  const [comment, setComment] = useState("");
  const { approvalId, pipelineId, runId, gate, message, missing, approvals, mayDecide, whyNot } = approval;
  const path = { pipelineId, runId, approvalId };
  const body = comment === "" ? {} : { comment };
  const { submit, isRunning } = useSubmit(async () => {
    // Enter in the comment sends the form although the button is gone.
    if (hasApproved(approval)) return;
    await api.post("/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/approve", { path, body });
    tell(runWords.approvalDone);
    onDecided();
  });
  const reject = async (): Promise<void> => {
    await api.post("/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/reject", { path, body });
    onDecided();
  };
  const name = "run" in gate ? runWords.wholeRun : "job" in gate ? gate.job : gate.stage;
  return (
    <form class={styles["bar"]} data-approval="" aria-label={runWords.approvalOf(name)} onSubmit={submit}>
      <StatusIcon of="waiting" />
      <div class={styles["text"]}>
        <strong>{runWords.approvalOf(name)}</strong>
        {message === "" ? null : <span>{message}</span>}
        <span class={styles["quiet"]}>
          {approvals
            .map(({ name: voter, comment: said }) => `${voter} has approved${said === "" ? "" : `: ${said}`}. `)
            .join("")}
          {runWords.missing(Math.max(missing.count, missing.users.length))}
          {missing.users.length === 0 ? "" : ` (${missing.users.join(", ")})`}
        </span>
      </div>
      {mayDecide ? (
        <div class={styles["decide"]}>
          <input
            aria-label={runWords.actions.comment}
            placeholder={runWords.actions.comment}
            value={comment}
            maxLength={1_000}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
          <Button icon={x} onClick={reject}>
            {runWords.actions.reject}
          </Button>
          {hasApproved(approval) ? null : (
            <Button type="submit" kind="primary" icon={check} disabled={isRunning}>
              {runWords.actions.approve}
            </Button>
          )}
        </div>
      ) : (
        <p class={styles["quiet"]}>{whyNot}</p>
      )}
    </form>
  );
}
