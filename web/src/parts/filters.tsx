/** The filter of a list: choices, and texts that take effect when the reader stops typing. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import styles from "./filters.module.css";

const TYPED_MS = 300;

export function FilterBar({ children }: { readonly children: ComponentChildren }) {
  return <div class={styles["bar"]}>{children}</div>;
}

/** Choices of which one is taken. */
export function Chips({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <div class={styles["chips"]} role="group" aria-label={label}>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** `isMain`: the field that the key `/` goes to. */
export function FilterText({
  label,
  value,
  isMain = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly isMain?: boolean;
  readonly onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      class={styles["text"]}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      {...(isMain ? { "data-filter": "" } : {})}
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(typed.trim()), TYPED_MS);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
