/** A long list of rows of one height in the page: only those near the window are in the document. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { rowsInWindow } from "../log/scaled-scroll.ts";

const BEYOND = 12;

export function FixedRows({
  count,
  rowHeight,
  role,
  children,
}: {
  readonly count: number;
  readonly rowHeight: number;
  readonly role?: "rowgroup" | "list";
  /** `top`: the place of the row, as CSS has it. */
  readonly children: (index: number, top: string) => ComponentChildren;
}) {
  const element = useRef<HTMLDivElement>(null);
  const [shown, show] = useState({ first: 0, end: Math.min(count, 40) });
  useEffect(() => {
    const measure = (): void => {
      const box = element.current?.getBoundingClientRect();
      if (box === undefined) return;
      const next = rowsInWindow({ rows: count, rowHeight, viewport: innerHeight }, Math.max(0, -box.top), BEYOND);
      show((before) => (before.first === next.first && before.end === next.end ? before : next));
    };
    measure();
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, [count, rowHeight]);
  const rows = Array.from(
    { length: Math.max(0, Math.min(shown.end, count) - shown.first) },
    (_, at) => shown.first + at,
  );
  return (
    <div ref={element} role={role} style={{ position: "relative", height: `${count * rowHeight}px` }}>
      {rows.map((index) => children(index, `${index * rowHeight}px`))}
    </div>
  );
}
