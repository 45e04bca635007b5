/** Tries the repository of a pipeline, and makes the webhook by which its host tells of events. */
import { useState } from "preact/hooks";
import { api, type Schemas } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Facts, Panel, Section } from "../parts/page.tsx";
import styles from "./pipeline.module.css";
import { pipelineWords } from "./pipeline-words.ts";

const texts = pipelineWords.repository;
type Found =
  | { readonly kind: "check"; readonly of: Schemas["RepositoryCheck"] }
  | { readonly kind: "webhook"; readonly of: Schemas["HostHook"]; readonly isMade: boolean };

export function RepositorySection({ pipelineId }: { readonly pipelineId: string }) {
  const path = { pipelineId };
  const [found, setFound] = useState<Found | undefined>(undefined);
  const check = async () =>
    setFound({ kind: "check", of: await api.post("/pipelines/{pipelineId}/repository/check", { path }) });
  const checkWebhook = async () => {
    const of = await api.post("/pipelines/{pipelineId}/repository/webhook/check", { path });
    setFound({ kind: "webhook", of, isMade: false });
  };
  const makeWebhook = async () => {
    const of = await api.post("/pipelines/{pipelineId}/repository/webhook", { path });
    setFound({ kind: "webhook", of, isMade: true });
  };
  return (
    <Section title={texts.title}>
      <Panel padded>
        <span class={styles["buttons"]}>
          <Button title={texts.about} onClick={check}>
            {texts.check}
          </Button>
          <Button onClick={checkWebhook}>{texts.webhook}</Button>
          <Button onClick={makeWebhook}>{texts.makeWebhook}</Button>
        </span>
        <div aria-live="polite">{found === undefined ? null : <Result of={found} />}</div>
      </Panel>
    </Section>
  );
}

function Result({ of: found }: { readonly of: Found }) {
  const { problems } = found.of;
  return (
    <div class={styles["result"]}>
      {found.kind === "check" ? (
        <>
          <Facts
            of={[
              [texts.canRead, word(found.of.canRead)],
              [texts.canPush, word(found.of.canPush)],
              [texts.canPropose, word(found.of.canPropose)],
              [texts.canManageHooks, word(found.of.canManageHooks)],
            ]}
          />
          {found.of.canRead && !found.of.hasFile ? <p>{texts.noFile}</p> : null}
        </>
      ) : null}
      {problems.length === 0 ? (
        <p>{found.kind === "webhook" && found.isMade ? texts.outcomes[found.of.outcome] : texts.fine}</p>
      ) : (
        <ul class={styles["problems"]}>
          {problems.map(({ code, message }) => (
            <li key={`${code} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function word(fact: boolean | null): string {
  return fact === null ? texts.unknown : fact ? texts.yes : texts.no;
}
