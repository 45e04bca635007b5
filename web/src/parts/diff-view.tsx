/** A unified comparison, with a word for readers of screens at each changed line. */
import { words } from "../words.ts";
import styles from "./diff-view.module.css";

export function DiffView({ diff, label }: { readonly diff: string | undefined; readonly label: string }) {
  if (diff === undefined) return <p class={styles["quiet"]}>{words.edit.tooMuch}</p>;
  if (diff === "") return <p class={styles["quiet"]}>{words.edit.noDifference}</p>;
  const lines = diff.replace(/\n$/, "").split("\n");
  return (
    <pre class={styles["diff"]} tabIndex={0} role="region" aria-label={label}>
      {lines
        .filter((line) => !/^(---|\+\+\+|={10,})/.test(line))
        .map((line, at) => (
          <span key={at} data-kind={kindOf(line)}>
            {line}
            {"\n"}
          </span>
        ))}
    </pre>
  );
}

function kindOf(line: string): "added" | "removed" | "place" | "same" {
  if (line.startsWith("@@")) return "place";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}
