/** The problems of the text, each a way to its place. */
import type { Schemas } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import type { Resource } from "../api/resource.ts";
import { words } from "../words.ts";
import styles from "./edit.module.css";

const texts = words.edit;

export function Problems({
  of: { value, error },
  isEmpty,
  onChoose,
}: {
  readonly of: Resource<Schemas["Validation"]>;
  readonly isEmpty: boolean;
  readonly onChoose: (problem: Schemas["Diagnostic"]) => void;
}) {
  if (error !== undefined) return <p class={styles["quiet"]}>{problemText(error)}</p>;
  if (value === undefined) return <p class={styles["quiet"]}>{words.states.loading}</p>;
  const { diagnostics } = value;
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return (
    <>
      <p class={styles["quiet"]} role="status">
        {isEmpty ? texts.empty : texts.found(errors, diagnostics.length - errors)}
      </p>
      {diagnostics.length === 0 || isEmpty ? null : (
        <ol class={styles["problems"]} aria-label={texts.problems}>
          {diagnostics.map((problem) => (
            <li key={`${problem.file ?? ""} ${problem.line} ${problem.column} ${problem.code} ${problem.message}`}>
              <button type="button" data-severity={problem.severity} onClick={() => onChoose(problem)}>
                <span>{texts.severity[problem.severity]}</span>
                <span>
                  {problem.file === undefined ? null : `${problem.file}:`}
                  {problem.line}:{problem.column} {problem.message}
                  {problem.hint === undefined ? null : <small>{problem.hint}</small>}
                </span>
              </button>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
