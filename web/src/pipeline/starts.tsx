/** What starts runs of a pipeline: users, schedules with their next times, and events of hosts. */
import calendar from "lucide-static/icons/calendar-clock.svg?raw";
import hand from "lucide-static/icons/hand.svg?raw";
import webhook from "lucide-static/icons/webhook.svg?raw";
import { may } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { readInputs } from "../pages/inputs.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { Ago, wholeTime } from "../parts/time.tsx";
import { type EventTrigger, readEvents } from "./events.ts";
import { pipelineWords } from "./pipeline-words.ts";
import styles from "./pipeline.module.css";

const texts = pipelineWords.starts;
type Schedule = Schemas["Schedule"];
type Start =
  | { readonly kind: "manual"; readonly inputs: readonly string[] }
  | { readonly kind: "schedule"; readonly of: Schedule }
  | { readonly kind: "event"; readonly of: EventTrigger };

const ICONS = { manual: hand, schedule: calendar, event: webhook } as const;

export function Starts({ pipelineId }: { readonly pipelineId: string }) {
  const path = { pipelineId };
  const schedules = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/schedules", { path, signal }),
    [pipelineId],
  );
  const spec = useResource((signal) => api.get("/pipelines/{pipelineId}/spec", { path, signal }), [pipelineId]);
  return (
    <Section title={texts.title}>
      <Loaded of={schedules} rows={2}>
        {({ list }) => <StartTable starts={startsOf(list, spec)} onChange={schedules.reload} />}
      </Loaded>
      {spec.error === undefined ? null : (
        <p class={styles["quiet"]}>
          {texts.unreadable} {problemText(spec.error)}
        </p>
      )}
    </Section>
  );
}

function startsOf(schedules: readonly Schedule[], spec: Resource<Schemas["Spec"]>): readonly Start[] {
  const definition = spec.value?.spec;
  return [
    { kind: "manual", inputs: readInputs(definition).map(({ name }) => name) },
    ...schedules.map((of) => ({ kind: "schedule" as const, of })),
    ...readEvents(definition).map((of) => ({ kind: "event" as const, of })),
  ];
}

function StartTable({ starts, onChange }: { readonly starts: readonly Start[]; readonly onChange: () => void }) {
  const columns: readonly Column<Start>[] = [
    {
      name: texts.kind,
      cell: (start) => (
        <span class={styles["start"]}>
          <Icon svg={ICONS[start.kind]} size={14} />
          <span>
            <What start={start} />
          </span>
        </span>
      ),
    },
    { name: texts.next, width: "34%", cell: (start) => <When start={start} /> },
    {
      name: texts.pause,
      isQuiet: true,
      width: "112px",
      align: "end",
      cell: (start) =>
        start.kind === "schedule" && may("controlSchedules") ? <Turn of={start.of} onChange={onChange} /> : null,
    },
  ];
  return (
    <Table
      label={texts.title}
      rows={starts}
      keyOf={(start) => (start.kind === "schedule" ? start.of.scheduleId : JSON.stringify(start))}
      columns={columns}
    />
  );
}

function What({ start }: { readonly start: Start }) {
  if (start.kind === "manual") {
    return (
      <>
        {texts.manual}
        <Under>{texts.inputs(start.inputs)}</Under>
      </>
    );
  }
  if (start.kind === "event") {
    const { provider, event, filters } = start.of;
    return (
      <>
        {texts.event(provider, event)}
        <Under>
          {filters.length === 0
            ? texts.allEvents
            : filters.map((filter, at) => (
                <span key={filter.name}>
                  {at === 0 ? "" : " · "}
                  {texts.filters[filter.name]} <code>{patternsOf(filter)}</code>
                </span>
              ))}
        </Under>
      </>
    );
  }
  const { name, schedule, timezone, pause } = start.of;
  return (
    <>
      {name}
      <Under>
        <code>{schedule}</code> {timezone}
        {pause === null ? null : ` · ${texts.pausedBy(pause.by)}`}
      </Under>
    </>
  );
}

function patternsOf({ only, except }: EventTrigger["filters"][number]): string {
  return [...only, ...(except.length === 0 ? [] : [texts.except(except.join(", "))])].join(", ");
}

function When({ start }: { readonly start: Start }) {
  if (start.kind === "manual") return <span class={styles["quiet"]}>{texts.anyTime}</span>;
  if (start.kind === "event") return <span class={styles["quiet"]}>{texts.onEvent}</span>;
  const { next, state } = start.of;
  if (state === "paused" || next[0] === undefined) return <>{texts.paused}</>;
  return (
    <span title={next.map(wholeTime).join("\n")}>
      <Ago at={next[0]} />
      <Under>{wholeTime(next[0])}</Under>
    </span>
  );
}

function Turn({ of: { pipelineId, name, state }, onChange }: { readonly of: Schedule; readonly onChange: () => void }) {
  const turn = async () => {
    const call = { path: { pipelineId, scheduleName: name }, body: {} };
    if (state === "active") await api.post("/pipelines/{pipelineId}/schedules/{scheduleName}/pause", call);
    else await api.post("/pipelines/{pipelineId}/schedules/{scheduleName}/resume", call);
    onChange();
  };
  return <Button onClick={turn}>{state === "active" ? texts.pause : texts.resume}</Button>;
}
