/** All places at once, for narrow pages whose bar has room for the first ones alone. */
import type { ComponentChildren } from "preact";
import { Dialog } from "../parts/dialog.tsx";
import { words } from "../words.ts";
import styles from "./menu.module.css";

export function Menu({ children, onClose }: { readonly children: ComponentChildren; readonly onClose: () => void }) {
  // A link that was followed has done what the menu was opened for.
  const close = (event: MouseEvent) => {
    if (event.target instanceof Element && event.target.closest("a") !== null) onClose();
  };
  return (
    <Dialog title={words.nav.menu} onClose={onClose}>
      <nav class={styles["places"]} aria-label={words.nav.menu} onClick={close}>
        {children}
      </nav>
    </Dialog>
  );
}
