/** What a page shows in place of what it cannot show, each time with what to do next. */
import type { ComponentChildren } from "preact";
import cloudOff from "lucide-static/icons/cloud-off.svg?raw";
import lock from "lucide-static/icons/lock.svg?raw";
import searchX from "lucide-static/icons/search-x.svg?raw";
import triangle from "lucide-static/icons/triangle-alert.svg?raw";
import { problemId, type ProblemKind, problemKind, problemText } from "../api/errors.ts";
import { words } from "../words.ts";
import { Button, ButtonLink } from "./button.tsx";
import { Icon } from "./icon.tsx";
import styles from "./problem.module.css";

const texts = words.states;
const SHAPES: Readonly<Record<ProblemKind, string>> = {
  forbidden: lock,
  gone: searchX,
  offline: cloudOff,
  failed: triangle,
};
const TITLES: Readonly<Record<ProblemKind, string>> = {
  forbidden: texts.forbiddenTitle,
  gone: texts.goneTitle,
  offline: texts.offlineTitle,
  failed: texts.failedTitle,
};

/** A state that fills the place of a page or a part: a shape, a title, a sentence, and what to do. */
export function Blank({
  icon,
  title,
  children,
  actions,
}: {
  readonly icon: string;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <div class={styles["blank"]}>
      <Icon svg={icon} size={28} />
      <h2>{title}</h2>
      {children === undefined ? null : <p>{typeof children === "string" ? withCode(children) : children}</p>}
      {actions === undefined ? null : <div class={styles["actions"]}>{actions}</div>}
    </div>
  );
}

/** What stands between backticks is code. */
function withCode(text: string): ComponentChildren {
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}

export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const kind = problemKind(error);
  const retry = onRetry === undefined ? null : <Button onClick={onRetry}>{texts.retry}</Button>;
  const home = <ButtonLink href="/">{texts.home}</ButtonLink>;
  return (
    <div role="alert">
      <Blank icon={SHAPES[kind]} title={TITLES[kind]} actions={kind === "gone" || kind === "forbidden" ? home : retry}>
        {sentence(kind, error)}
      </Blank>
    </div>
  );
}

/** A line above what is still shown from before. */
export function StaleNote({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <div class={styles["note"]} role="status">
      <Icon svg={SHAPES[problemKind(error)]} />
      <span>
        {texts.stale} {problemText(error)}.
      </span>
      <Button kind="quiet" onClick={onRetry}>
        {texts.retry}
      </Button>
    </div>
  );
}

function sentence(kind: ProblemKind, error: unknown): string {
  const why = problemText(error);
  const begun = why.charAt(0).toUpperCase() + why.slice(1);
  if (kind === "forbidden") return texts.forbidden(begun);
  if (kind === "gone") return texts.gone(begun);
  return kind === "offline" ? texts.offline : texts.failed(begun, problemId(error));
}
