/** A status by shape, word and colour, so that each of them alone suffices. */
import ban from "lucide-static/icons/ban.svg?raw";
import circleCheck from "lucide-static/icons/circle-check.svg?raw";
import circleDashed from "lucide-static/icons/circle-dashed.svg?raw";
import circlePause from "lucide-static/icons/circle-pause.svg?raw";
import circleSlash from "lucide-static/icons/circle-slash.svg?raw";
import circleX from "lucide-static/icons/circle-x.svg?raw";
import clock from "lucide-static/icons/clock.svg?raw";
import hourglass from "lucide-static/icons/hourglass.svg?raw";
import loader from "lucide-static/icons/loader-circle.svg?raw";
import skip from "lucide-static/icons/skip-forward.svg?raw";
import timer from "lucide-static/icons/timer-off.svg?raw";
import triangle from "lucide-static/icons/triangle-alert.svg?raw";
import { words } from "../words.ts";
import { Icon } from "./icon.tsx";
import { type StatusWord, toneOf } from "./status-words.ts";
import styles from "./status.module.css";

const SHAPES: Readonly<Record<StatusWord, string>> = {
  pending: circleDashed,
  queued: clock,
  waiting: hourglass,
  running: loader,
  success: circleCheck,
  approved: circleCheck,
  failed: circleX,
  rejected: circleX,
  timeout: timer,
  expired: timer,
  cancelled: ban,
  skipped: skip,
  paused: circlePause,
  partial: triangle,
};

function isStatus(word: string): word is StatusWord {
  return word in SHAPES;
}

/** The shape alone, with the word for readers of screens. A word that this page does not know keeps a neutral shape. */
export function StatusIcon({ of, size = 16 }: { readonly of: string; readonly size?: 14 | 16 | 20 }) {
  const known = isStatus(of);
  return (
    <span
      class={styles["shape"]}
      data-tone={known ? toneOf(of) : "cancelled"}
      data-status={of}
      role="img"
      aria-label={known ? words.status[of] : of}
      title={known ? words.status[of] : of}
    >
      <Icon svg={known ? SHAPES[of] : circleSlash} size={size} />
    </span>
  );
}

/** Shape and word. */
export function Status({ of, size = 16 }: { readonly of: string; readonly size?: 14 | 16 | 20 }) {
  const known = isStatus(of);
  return (
    <span class={styles["status"]} data-tone={known ? toneOf(of) : "cancelled"} data-status={of}>
      <span class={styles["turning"]}>
        <Icon svg={known ? SHAPES[of] : circleSlash} size={size} />
      </span>
      {known ? words.status[of] : of}
    </span>
  );
}
