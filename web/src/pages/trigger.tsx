/** Starts a run: the inputs that the definition has, and the plan that follows from them. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import plus from "lucide-static/icons/plus.svg?raw";
import x from "lucide-static/icons/x.svg?raw";
import zap from "lucide-static/icons/zap.svg?raw";
import { useKeys } from "../app/keys.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { tell } from "../parts/toast.tsx";
import { useSettled } from "../parts/use-settled.ts";
import { useSubmit } from "../parts/use-submit.ts";
import { words } from "../words.ts";
import { type Input, readInputs } from "./inputs.ts";
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
  const [ref, setRef] = useState("");
  const pipeline = useResource((signal) => api.get("/pipelines/{pipelineId}", { path, signal }), [pipelineId]);
  const settledRef = useSettled(ref.trim(), TYPED_MS);
  const spec = useResource(
    (signal) => {
      const query = settledRef === "" ? {} : { ref: settledRef };
      return api.get("/pipelines/{pipelineId}/spec", { path, query, signal });
    },
    [pipelineId, settledRef],
  );
  const variables = { ...given, ...Object.fromEntries(others.filter(([name]) => name !== "")) };
  const settled = useSettled(JSON.stringify(variables), TYPED_MS);
  const definition = spec.value;
  const plan = useResource(
    (signal) => {
      const body = { variables: JSON.parse(settled) as Record<string, string>, ...planOf(settledRef, definition) };
      return api.post("/pipelines/{pipelineId}/plan", { path, body, signal });
    },
    [pipelineId, settled, settledRef, settledRef === "" ? "" : definition?.headCommitSha],
  );
  const { submit, isRunning } = useSubmit(async () => {
    const body = { variables, ...placeOf(ref.trim()) };
    const { runId } = await api.post("/pipelines/{pipelineId}/trigger", { path, body });
    tell(texts.started);
    route(`/runs/${runId}`);
  });
  useKeys([
    {
      keys: "mod+enter",
      does: texts.start,
      inFields: true,
      run: () => submit(),
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
        {({ spec: shown, revisionId }) => (
          <div class={styles["columns"]}>
            <form class={styles["inputs"]} onSubmit={submit}>
              {pipeline.value === undefined || pipeline.value.repoUrl === "" ? null : (
                <label class={styles["field"]}>
                  {texts.ref}
                  <input
                    value={ref}
                    placeholder={pipeline.value.defaultBranch}
                    spellcheck={false}
                    onInput={(event) => setRef(event.currentTarget.value)}
                  />
                  <small>{texts.refAbout}</small>
                </label>
              )}
              <h2>{texts.inputs}</h2>
              <Inputs inputs={readInputs(shown)} given={given} set={set} />
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
                <Button kind="primary" type="submit" icon={zap} disabled={isRunning}>
                  {texts.start}
                </Button>
              </div>
            </form>
            <div>
              {pipeline.value?.lastRun ? (
                <LastRun
                  runId={pipeline.value.lastRun.runId}
                  revisionId={revisionId}
                  inputs={readInputs(shown)}
                  variables={variables}
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

/** What a trigger says of the commit whose definition counts. */
function placeOf(ref: string): { readonly commit?: string; readonly ref?: string } {
  if (ref === "") return {};
  return /^[0-9a-f]{40,64}$/.test(ref) ? { commit: ref } : { ref };
}

/** The plan of a ref is that of the definition there; without one, the server plans the saved definition. */
function planOf(ref: string, at: Schemas["Spec"] | undefined) {
  const spec = at?.resolved ?? at?.spec;
  if (ref === "" || typeof spec !== "object" || spec === null) return {};
  return { spec: { ...spec }, trigger: { ref } };
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
