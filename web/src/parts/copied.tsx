/** A text that the reader takes along: with a button that copies it. */
import copy from "lucide-static/icons/copy.svg?raw";
import { words } from "../words.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.ts";
import styles from "./copied.module.css";

/** `isBlock`: a surface of its own, for a command. */
export function Copied({ text, isBlock = false }: { readonly text: string; readonly isBlock?: boolean }) {
  return (
    <span class={styles["copied"]} data-block={isBlock}>
      <code>{text}</code>
      <Button kind="quiet" icon={copy} label={words.actions.copy} onClick={() => copyText(text)} />
    </span>
  );
}
