/** The text of a file that the definition includes, at the place of a problem. It is changed where the repository is. */
import { useEffect, useRef } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { words } from "../words.ts";
import type { Head } from "./head.ts";
import styles from "./edit.module.css";

const texts = words.edit;

export function IncludedFile({
  problem,
  head,
  repoUrl,
  onClose,
}: {
  readonly problem: Schemas["Diagnostic"];
  readonly head: Head;
  readonly repoUrl: string;
  readonly onClose: () => void;
}) {
  const { file = "", line, column, message } = problem;
  const text = head?.includes.find(({ path }) => path === file)?.text ?? null;
  const marked = useRef<HTMLLIElement>(null);
  useEffect(() => marked.current?.scrollIntoView({ block: "center" }), []);
  return (
    <Dialog title={file} wide onClose={onClose}>
      <p class={styles["quiet"]}>
        {line}:{column} {message}
      </p>
      {text === null ? (
        <p>{texts.noIncluded}</p>
      ) : (
        <ol class={styles["file"]} aria-label={file} tabIndex={0}>
          {text.split("\n").map((content, at) => (
            <li key={at} ref={at + 1 === line ? marked : null} aria-current={at + 1 === line ? "location" : undefined}>
              {content === "" ? " " : content}
            </li>
          ))}
        </ol>
      )}
      <p class={styles["quiet"]}>
        {head === null ? null : texts.includedAt(head.headCommitSha.slice(0, 8))}{" "}
        {/^https?:\/\//.test(repoUrl) ? (
          <a href={repoUrl} target="_blank" rel="noreferrer">
            {texts.repository}
          </a>
        ) : (
          <code>{repoUrl}</code>
        )}
      </p>
    </Dialog>
  );
}
