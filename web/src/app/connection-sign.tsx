/** The sign that says whether what the page shows is what is. */
import { connection } from "../live/socket.ts";
import { words } from "../words.ts";
import styles from "./shell.module.css";

export function ConnectionSign() {
  const now = connection.value;
  const texts = words.connection;
  const text =
    now.kind === "live"
      ? texts.live
      : now.kind === "idle"
        ? texts.idle
        : now.kind === "reconnecting"
          ? texts.reconnecting(now.seconds)
          : texts.behind(now.seconds);
  return (
    <p class={styles["sign"]} data-kind={now.kind} data-connection={now.kind} title={texts.about}>
      <span class={styles["dot"]} aria-hidden="true" />
      {text}
    </p>
  );
}
