/** A dialog. The browser keeps the focus inside, and `Esc` closes it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import close from "lucide-static/icons/x.svg?raw";
import { words } from "../words.ts";
import { Button } from "./button.tsx";
import { Toasts } from "./toast.tsx";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Shown at the end, to the right. */
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
  /** True when the dialog has no visible title, as a palette has none. */
  readonly bare?: boolean;
  readonly onClose: () => void;
}

/** Shown as long as it is rendered. */
export function Dialog({ title, children, actions, wide = false, bare = false, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isPressedOutside = useRef(false);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={styles["dialog"]}
      data-wide={wide}
      data-bare={bare}
      aria-label={title}
      onClose={onClose}
      // A selection of text may end outside: only a press that also begins there closes.
      onPointerDown={(event) => (isPressedOutside.current = event.target === element.current)}
      onClick={(event) => {
        if (event.target === element.current && isPressedOutside.current) onClose();
      }}
    >
      <div class={styles["body"]}>
        {bare ? null : (
          <header class={styles["head"]}>
            <h2>{title}</h2>
            <Button kind="quiet" icon={close} label={words.actions.close} onClick={onClose} />
          </header>
        )}
        {children}
        {actions === undefined ? null : <footer class={styles["actions"]}>{actions}</footer>}
      </div>
      <Toasts />
    </dialog>
  );
}
