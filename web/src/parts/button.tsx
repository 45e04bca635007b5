/** Buttons, and links that look like them. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { tell } from "./toast.tsx";
import { problemText } from "../api/errors.ts";
import styles from "./button.module.css";

export type ButtonKind = "plain" | "primary" | "danger" | "quiet";

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly kind?: ButtonKind;
  readonly icon?: string;
  /** The name of a button that shows an icon alone. */
  readonly label?: string;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  readonly title?: string;
  /** The button is busy until the promise is settled; what it rejects with is told. */
  readonly onClick?: () => void | Promise<unknown>;
}

export function Button(props: ButtonProps) {
  const { children, kind = "plain", icon, label, type = "button", disabled = false, onClick } = props;
  const [isBusy, setBusy] = useState(false);
  const click = () => {
    const begun = onClick?.();
    if (begun === undefined) return;
    setBusy(true);
    begun.catch((error: unknown) => tell(problemText(error), "failed")).finally(() => setBusy(false));
  };
  return (
    <button
      type={type}
      class={styles["button"]}
      data-kind={kind}
      data-icon-only={children === undefined}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
      aria-label={label}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      title={props.title ?? (children === undefined ? label : undefined)}
      onClick={click}
    >
      {icon === undefined ? null : <Icon svg={icon} />}
      {children}
    </button>
  );
}

export function ButtonLink({
  href,
  children,
  kind = "plain",
  icon,
}: {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly kind?: ButtonKind;
  readonly icon?: string;
}) {
  return (
    <a class={styles["button"]} data-kind={kind} href={href}>
      {icon === undefined ? null : <Icon svg={icon} />}
      {children}
    </a>
  );
}
