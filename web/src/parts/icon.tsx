/** One icon of the set, drawn in the colour of the text around it. */
import styles from "./icon.module.css";

/** `svg`: the text of an icon, imported as `lucide-static/icons/NAME.svg?raw`. Readers of screens skip it. */
export function Icon({ svg, size = 16 }: { readonly svg: string; readonly size?: 12 | 14 | 16 | 20 | 28 }) {
  return <span class={styles["icon"]} data-size={size} aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />;
}
