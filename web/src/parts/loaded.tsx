/** Shows a value once it is loaded, and until then, or instead, the state of the attempt. */
import type { ComponentChildren } from "preact";
import type { Resource } from "../api/resource.ts";
import { words } from "../words.ts";
import { Problem, StaleNote } from "./problem.tsx";
import styles from "./loaded.module.css";

/** `rows`: how much place the value will take, about. */
export function Loaded<T>({
  of,
  rows = 6,
  children,
}: {
  readonly of: Resource<T>;
  readonly rows?: number;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error, reload } = of;
  if (value === undefined)
    return error === undefined ? <Loading rows={rows} /> : <Problem error={error} onRetry={reload} />;
  return (
    <>
      {error === undefined ? null : <StaleNote error={error} onRetry={reload} />}
      {children(value)}
    </>
  );
}

/** Grey rows in the place of a list. They appear after a moment, so that a quick answer shows none. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class={styles["loading"]} role="status" aria-label={words.states.loading}>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} class={styles["row"]} />
      ))}
    </div>
  );
}
