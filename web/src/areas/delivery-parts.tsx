/** What lists and dialogs of deliveries share: states, tries, and texts that others have sent. */
import { Ago } from "../parts/time.tsx";
import { durationText } from "../parts/time-texts.ts";
import { areaWords } from "./area-words.ts";
import styles from "./areas.module.css";

const TONES: Readonly<Record<string, string>> = {
  delivered: "good",
  done: "good",
  failed: "bad",
  owed: "late",
  arriving: "late",
};

export function DeliveryState({ state, word }: { readonly state: string; readonly word: string }) {
  return <span class={styles[TONES[state] ?? "quiet"]}>{word}</span>;
}

interface Try {
  readonly at: string;
  readonly duration: number;
  readonly status: number | null;
  readonly error: string;
  readonly request: { readonly url: string };
  readonly answer: string;
}

export function Tries({ of }: { readonly of: readonly Try[] }) {
  if (of.length === 0) return <p class={styles["quiet"]}>{areaWords.webhooks.noTries}</p>;
  return (
    <ol class={styles["tries"]}>
      {of.map(({ at, duration, status, error, request, answer }) => (
        <li key={at}>
          <Ago at={at} /> · <code>{request.url}</code> · {status ?? error} · {durationText(duration)}
          {answer === "" ? null : <Sent text={answer} label={areaWords.webhooks.answer} />}
        </li>
      ))}
    </ol>
  );
}

/** A text from outside, as it is. */
export function Sent({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <pre class={styles["body"]} tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}

/** JSON with a line for each value, or the text itself when it is no JSON. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
