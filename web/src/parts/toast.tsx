/** Short messages about what the reader has just done. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import circleCheck from "lucide-static/icons/circle-check.svg?raw";
import circleX from "lucide-static/icons/circle-x.svg?raw";
import close from "lucide-static/icons/x.svg?raw";
import { words } from "../words.ts";
import { Icon } from "./icon.tsx";
import styles from "./toast.module.css";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "failed";
}

const STAYS_MS = 5_000;
const toasts = signal<readonly Toast[]>([]);
let nextId = 1;

/** Shows `text`. A failure stays until the reader closes it. */
export function tell(text: string, kind: Toast["kind"] = "done"): void {
  const toast = { id: nextId++, text, kind };
  toasts.value = [...toasts.value.slice(-3), toast];
  if (kind === "done") setTimeout(() => drop(toast.id), STAYS_MS);
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** The places that can show messages, the one in use last. */
const places = signal<readonly symbol[]>([]);

/**
 * A place for messages: one of the page, and one of each dialog. The page behind a dialog can be neither read nor pressed, so the
 * place that was drawn last shows them.
 */
export function Toasts() {
  const place = useRef(Symbol("place")).current;
  useEffect(() => {
    places.value = [...places.peek(), place];
    return () => {
      places.value = places.peek().filter((one) => one !== place);
    };
  }, []);
  const shown = places.value.at(-1) === place ? toasts.value : [];
  return (
    <div class={styles["toasts"]} role="status" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <div key={id} class={styles["toast"]} data-kind={kind}>
          <Icon svg={kind === "done" ? circleCheck : circleX} />
          <span>{text}</span>
          <button type="button" aria-label={words.actions.close} onClick={() => drop(id)}>
            <Icon svg={close} size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
