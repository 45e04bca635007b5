/** Starts a run: the inputs that the definition has, and the plan that follows from them. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import plus from "lucide-static/icons/plus.svg?raw";
import x from "lucide-static/icons/x.svg?raw";
import zap from "lucide-static/icons/zap.svg?raw";
import { useKeys } from "../app/keys.ts";
import { api } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { tell } from "../parts/toast.tsx";
import { useSettled } from "../parts/use-settled.ts";
import { words } from "../words.ts";
import { type Input, readInputs, withDefaults } from "./inputs.ts";
import { LastRun } from "./last-run.tsx";
import { PlanView } from "./plan-view.tsx";
import styles from "./trigger.module.css";

const texts = words.trigger;
/** The plan is asked for when the reader stops typing. */
const TYPED_MS = 300;

export function TriggerPage({ pipelineId }: { readonly pipelineId: string }) {
  const path = { pipelineId };
  const { route } = useLocation();
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const [others, setOthers] = useState<readonly (readonly [name: string, value: string])[]>([]);
  const pipeline = useResource((signal) => api.get("/pipelines/{pipelineId}", { path, signal }), [pipelineId]);
  const spec = useResource((signal) => api.get("/pipelines/{pipelineId}/spec", { path, signal }), [pipelineId]);
  const variables = { ...given, ...Object.fromEntries(others.filter(([name]) => name !== "")) };
  const settled = useSettled(JSON.stringify(variables), TYPED_MS);
  const plan = useResource(
    (signal) =>
      api.post("/pipelines/{pipelineId}/plan", {
        path,
        body: { variables: JSON.parse(settled) as Record<string, string> },
        signal,
      }),
    [pipelineId, settled],
  );
  const start = async () => {
    const { runId } = await api.post("/pipelines/{pipelineId}/trigger", { path, body: { variables } });
    tell(texts.started);
    route(`/runs/${runId}`);
  };
  useKeys([
    {
      keys: "mod+enter",
      does: texts.start,
      inFields: true,
      run: () => void start().catch((error: unknown) => tell(problemText(error), "failed")),
    },
  ]);
  const name = pipeline.value?.name ?? pipelineId;
  const set = (input: string) => (value: string) => setGiven({ ...given, [input]: value });
  return (
    <Page
      title={words.pipeline.triggerNamed(name)}
      crumbs={[
        ["/pipelines", words.pipelines.title],
        [`/pipelines/${pipelineId}`, name],
      ]}
    >
      <Loaded of={spec}>
        {({ spec: definition, revisionId }) => (
          <div class={styles["columns"]}>
            <form
              class={styles["inputs"]}
              onSubmit={(event) => {
                event.preventDefault();
                start().catch((error: unknown) => tell(problemText(error), "failed"));
              }}
            >
              <h2>{texts.inputs}</h2>
              <Inputs inputs={readInputs(definition)} given={given} set={set} />
              {others.map(([key, value], at) => (
                <div key={at} class={styles["other"]}>
                  <input
                    aria-label={texts.variableName}
                    placeholder={texts.variableName}
                    value={key}
                    onInput={(event) => setOthers(others.with(at, [event.currentTarget.value, value]))}
                  />
                  <input
                    aria-label={texts.variableValue}
                    placeholder={texts.variableValue}
                    value={value}
                    onInput={(event) => setOthers(others.with(at, [key, event.currentTarget.value]))}
                  />
                  <Button
                    kind="quiet"
                    icon={x}
                    label={texts.remove}
                    onClick={() => setOthers(others.toSpliced(at, 1))}
                  />
                </div>
              ))}
              <div>
                <Button kind="quiet" icon={plus} onClick={() => setOthers([...others, ["", ""]])}>
                  {texts.addVariable}
                </Button>
              </div>
              <div>
                <Button kind="primary" type="submit" icon={zap}>
                  {texts.start}
                </Button>
              </div>
            </form>
            <div>
              {pipeline.value?.lastRun ? (
                <LastRun
                  runId={pipeline.value.lastRun.runId}
                  revisionId={revisionId}
                  variables={withDefaults(readInputs(definition), variables)}
                />
              ) : null}
              <Section title={texts.plan}>
                <PlanView plan={plan} />
              </Section>
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Inputs({
  inputs,
  given,
  set,
}: {
  readonly inputs: readonly Input[];
  readonly given: Readonly<Record<string, string>>;
  readonly set: (name: string) => (value: string) => void;
}) {
  if (inputs.length === 0) return <p class={styles["quiet"]}>{texts.noInputs}</p>;
  return (
    <>
      {inputs.map((input) => {
        const { name, description, isRequired } = input;
        return (
          <label key={name} class={styles["field"]}>
            <span>
              <code>{name}</code>
              {isRequired ? <em> {texts.required}</em> : null}
            </span>
            <Field input={input} value={given[name] ?? input.value} onChange={set(name)} />
            {description === "" ? null : <small>{description}</small>}
          </label>
        );
      })}
    </>
  );
}

function Field({
  input: { type, options, isRequired },
  value,
  onChange,
}: {
  readonly input: Input;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  if (type === "boolean" || type === "choice") {
    const choices =
      type === "boolean"
        ? ([
            ["true", texts.yes],
            ["false", texts.no],
          ] as const)
        : options.map((one) => [one, one] as const);
    return (
      <select value={value} required={isRequired} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      inputMode={type === "number" ? "decimal" : "text"}
      value={value}
      required={isRequired}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}
