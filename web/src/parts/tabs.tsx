/** Links to the parts of one page, of which one is shown. */
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
  return (
    <nav class={styles["tabs"]} aria-label={label}>
      {of.map(([href, name]) => (
        <a key={href} href={href} aria-current={href === here ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
