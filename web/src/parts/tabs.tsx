/** Links to the parts of one page, of which one is shown. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import styles from "./tabs.module.css";

/** For a list of links that may be wider than the page: scrolls to the one that is chosen whenever `here` changes. */
export function useChosenInSight(here: string): RefObject<HTMLElement | null> {
  const list = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (list.current && chosen) list.current.scrollLeft = chosen.offsetLeft - list.current.clientWidth / 3;
  }, [here]);
  return list;
}

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
  const list = useChosenInSight(here);
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
