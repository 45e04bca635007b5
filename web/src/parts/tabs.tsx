/** Links to the parts of one page, of which one is shown. */
import { useLayoutEffect, useRef } from "preact/hooks";
import styles from "./tabs.module.css";

export function Tabs({
  label,
  of,
  here,
}: {
  readonly label: string;
  readonly of: readonly (readonly [href: string, name: string])[];
  /** The address of the part that is shown. */
  readonly here: string;
}) {
  const list = useRef<HTMLElement>(null);
  // On a narrow page the chosen part may be out of sight.
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (list.current && chosen) list.current.scrollLeft = chosen.offsetLeft - list.current.clientWidth / 3;
  }, [here]);
  return (
    <nav ref={list} class={styles["tabs"]} aria-label={label}>
      {of.map(([href, name]) => (
        <a key={href} href={href} aria-current={href === here ? "page" : undefined}>
          <span data-name={name}>{name}</span>
        </a>
      ))}
    </nav>
  );
}
