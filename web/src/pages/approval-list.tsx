/** Approvals with what each waits for, and the dialog in which the reader votes. */
import { useState } from "preact/hooks";
import check from "lucide-static/icons/check.svg?raw";
import x from "lucide-static/icons/x.svg?raw";
import { api, type Schemas } from "../api/client.ts";
import { hasApproved } from "../app/session.ts";
import { pipelineName } from "../api/names.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { StatusIcon } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { shortId } from "./run-cells.tsx";
import styles from "./approval-list.module.css";

export type Approval = Schemas["ApprovalForCaller"];
type Verdict = "approve" | "reject";

const texts = words.approvals;

export function ApprovalList({
  approvals,
  onDecided,
}: {
  readonly approvals: readonly Approval[];
  readonly onDecided: () => void;
}) {
  const [vote, setVote] = useState<{ readonly approval: Approval; readonly verdict: Verdict } | undefined>(undefined);
  return (
    <>
      <ul class={styles["list"]}>
        {approvals.map((approval) => (
          <li key={approval.approvalId} class={styles["item"]}>
            <StatusIcon of={approval.status === "pending" ? "waiting" : approval.status} />
            <div class={styles["text"]}>
              <p>
                <a href={`/runs/${approval.runId}`} data-row-link="" class={styles["title"]}>
                  {approval.message === "" ? pipelineName(approval.pipelineId) : approval.message}
                </a>
              </p>
              <p class={styles["under"]}>
                {pipelineName(approval.pipelineId)} <code>{shortId(approval.runId)}</code> ·{" "}
                {texts.gate(gateName(approval))} · <Ago at={approval.requestedAt} />
                {approval.expiresAt === null || approval.status !== "pending" ? null : (
                  <>
                    {" "}
                    · {texts.expires} <Ago at={approval.expiresAt} />
                  </>
                )}
              </p>
              <p class={styles["under"]}>{standing(approval)}</p>
            </div>
            {approval.status !== "pending" ? null : approval.mayDecide ? (
              <div class={styles["buttons"]}>
                <Button icon={x} onClick={() => setVote({ approval, verdict: "reject" })}>
                  {texts.reject}
                </Button>
                {hasApproved(approval) ? null : (
                  <Button kind="primary" icon={check} onClick={() => setVote({ approval, verdict: "approve" })}>
                    {texts.approve}
                  </Button>
                )}
              </div>
            ) : (
              <p class={styles["why"]}>{approval.whyNot}</p>
            )}
          </li>
        ))}
      </ul>
      {vote === undefined ? null : (
        <VoteDialog
          {...vote}
          onClose={() => setVote(undefined)}
          onDone={() => {
            setVote(undefined);
            onDecided();
          }}
        />
      )}
    </>
  );
}

/** The votes so far, and who is missing. */
function standing({ approvals, rejection, missing, status }: Approval): string {
  const parts = [
    ...(approvals.length > 0 ? [texts.votes(approvals.map(({ name }) => name))] : []),
    ...(rejection === null ? [] : [texts.rejectedBy(rejection.name)]),
    ...(status === "pending" ? [texts.missing(Math.max(missing.count, missing.users.length), missing.users)] : []),
  ];
  return parts.join(" · ");
}

function gateName({ gate }: Approval): string {
  if ("run" in gate) return texts.wholeRun;
  return "job" in gate ? gate.job : gate.stage;
}

function VoteDialog({
  approval,
  verdict,
  onClose,
  onDone,
}: {
  readonly approval: Approval;
  readonly verdict: Verdict;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [comment, setComment] = useState("");
  const { pipelineId, runId, approvalId } = approval;
  const send = async () => {
    const call = { path: { pipelineId, runId, approvalId }, body: comment.trim() === "" ? {} : { comment } };
    if (verdict === "approve") {
      await api.post("/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/approve", call);
    } else {
      await api.post("/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/reject", call);
    }
    tell(verdict === "approve" ? texts.approved : texts.rejected);
    onDone();
  };
  const what = `${pipelineName(pipelineId)} ${texts.gate(gateName(approval))}`;
  return (
    <Dialog
      title={verdict === "approve" ? texts.approveTitle(what) : texts.rejectTitle(what)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind={verdict === "approve" ? "primary" : "danger"} onClick={send}>
            {texts[verdict]}
          </Button>
        </>
      }
    >
      <p class={styles["message"]}>{approval.message}</p>
      <label class={styles["field"]}>
        {texts.comment} ({texts.optional})
        <textarea
          rows={3}
          maxLength={2_000}
          autoFocus
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  );
}
