/** The messages about runs that pipelines of a project have sent, or owe. */
import { useState } from "preact/hooks";
import bell from "lucide-static/icons/bell.svg?raw";
import { api, type Schemas } from "../api/client.ts";
import { pipelineName } from "../api/names.ts";
import { useResource } from "../api/resource.ts";
import { useFilters } from "../app/place.ts";
import { areaWords } from "../areas/area-words.ts";
import { DeliveryState, Tries } from "../areas/delivery-parts.tsx";
import { StateList } from "../areas/state-list.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { usePages } from "../parts/more.tsx";
import { Facts } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowButton, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";

const texts = areaWords.notifications;
const { states, allStates } = areaWords.webhooks;
type Notification = Schemas["Notification"];
const HIDDEN = "***";
const STATES: readonly (readonly [string, string])[] = [["", allStates], ...Object.entries(states)];

/** The server does not tell an address that is a secret. */
function targetText({ channel, target }: Pick<Notification, "channel" | "target">): string {
  const name = texts.channels[channel];
  return target.includes(HIDDEN) ? `${name}, ${texts.secretAddress}` : `${name}: ${target}`;
}

export function Notifications({ projectId, mayResend }: { readonly projectId: string; readonly mayResend: boolean }) {
  const [filters, change] = useFilters();
  const [open, setOpen] = useState<Notification | undefined>(undefined);
  const state = filters["state"] ?? "";
  const notifications = usePages(
    (after, signal) =>
      api.get("/projects/{projectId}/notifications", {
        path: { projectId },
        query: {
          limit: 50,
          ...(state === "" ? {} : { state: state as Notification["state"] }),
          ...(after === undefined ? {} : { after }),
        },
        signal,
      }),
    [projectId, state],
  );
  const columns: readonly Column<Notification>[] = [
    {
      name: texts.target,
      cell: (one) => (
        <>
          <RowButton onClick={() => setOpen(one)}>{targetText(one)}</RowButton>
          <Under>
            {texts.reasons[one.on]} · {pipelineName(one.pipelineId)}
            {one.job === null ? "" : ` · ${one.job}`}
          </Under>
        </>
      ),
    },
    {
      name: texts.state,
      width: "30%",
      cell: ({ state: word, error, problem }) => (
        <>
          <DeliveryState state={word} word={states[word]} />
          <Under>{problem === "" ? error : problem}</Under>
        </>
      ),
    },
    { name: texts.attempts, width: "70px", align: "end", needs: "wide", cell: ({ attempts }) => attempts },
    { name: texts.at, width: "104px", align: "end", needs: "wide", cell: (one) => <Ago at={one.createdAt} /> },
  ];
  return (
    <StateList
      title={areaWords.tabs.notifications}
      about={texts.about}
      states={STATES}
      state={state}
      onState={(value) => change({ state: value })}
      of={notifications}
      columns={columns}
      keyOf={(one) => one.notificationId}
      blank={
        <Blank icon={bell} title={texts.none}>
          {texts.noneText}
        </Blank>
      }
    >
      {open === undefined ? null : (
        <NotificationDialog
          of={open}
          mayResend={mayResend}
          onClose={() => setOpen(undefined)}
          onChange={notifications.reload}
        />
      )}
    </StateList>
  );
}

function NotificationDialog({
  of,
  mayResend,
  onClose,
  onChange,
}: {
  readonly of: Notification;
  readonly mayResend: boolean;
  readonly onClose: () => void;
  readonly onChange: () => void;
}) {
  const { projectId, notificationId, runId } = of;
  const notification = useResource(
    (signal) =>
      api.get("/projects/{projectId}/notifications/{notificationId}", { path: { projectId, notificationId }, signal }),
    [notificationId],
  );
  const resend = async () => {
    await api.post("/pipelines/runs/{runId}/notifications/{notificationId}/resend", {
      path: { runId, notificationId },
      body: {},
    });
    tell(texts.resent);
    onChange();
    onClose();
  };
  return (
    <Dialog
      title={texts.title}
      wide
      onClose={onClose}
      actions={mayResend ? <Button onClick={resend}>{texts.resend}</Button> : undefined}
    >
      <Loaded of={notification} rows={4}>
        {(shown) => (
          <>
            <Facts
              of={[
                [texts.target, targetText(shown)],
                [texts.on, texts.reasons[shown.on]],
                [texts.state, <DeliveryState state={shown.state} word={states[shown.state]} />],
                [texts.run, <a href={`/runs/${runId}`}>{runId}</a>],
                ...(shown.problem === "" ? [] : ([[texts.problem, shown.problem]] as const)),
              ]}
            />
            <h3>{areaWords.webhooks.tries}</h3>
            <Tries of={shown.tries} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
