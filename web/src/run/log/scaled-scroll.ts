/**
 * Scrolling over more rows than a browser can make high: browsers cut heights near 17 million pixels. The bar is at most
 * {@link MOST_PX} high. A short move of the bar moves the rows by as many pixels, and a long one (a drag) by as large a
 * share of the whole. Pure.
 */

export const MOST_PX = 8_000_000;

export interface Extent {
  readonly rows: number;
  readonly rowHeight: number;
  /** Height of the window, in pixels. */
  readonly viewport: number;
}

export interface Scroll {
  /** Pixels of rows above the window. */
  readonly top: number;
  /** `scrollTop` of the element. */
  readonly bar: number;
}

/** Height of the element inside the scrolling one. */
export function barHeight({ rows, rowHeight }: Extent): number {
  return Math.min(rows * rowHeight, MOST_PX);
}

export function topMost({ rows, rowHeight, viewport }: Extent): number {
  return Math.max(0, rows * rowHeight - viewport);
}

function barMost(extent: Extent): number {
  return Math.max(0, barHeight(extent) - extent.viewport);
}

const between = (low: number, value: number, high: number): number => Math.min(Math.max(value, low), high);

/** The place that shows the rows from `top` on. */
export function scrollTo(extent: Extent, top: number): Scroll {
  const most = topMost(extent);
  const inside = between(0, top, most);
  return { top: inside, bar: most === 0 ? 0 : (inside / most) * barMost(extent) };
}

/** The place after the bar has moved. A caller sets the element to the answered bar when it differs. */
export function barMoved(extent: Extent, before: Scroll, bar: number): Scroll {
  const [most, last] = [topMost(extent), barMost(extent)];
  if (most === last) return { top: between(0, bar, most), bar: between(0, bar, last) };
  const delta = bar - before.bar;
  if (Math.abs(delta) > 2 * extent.viewport) return { top: (between(0, bar, last) / last) * most, bar };
  const top = between(0, before.top + delta, most);
  // The bar may end before the rows do, and the other way round: then the bar gives way.
  if (top === 0 || top === most) return { top, bar: top === 0 ? 0 : last };
  if (bar <= 0 || bar >= last) return { top, bar: between(1, scrollTo(extent, top).bar, last - 1) };
  return { top, bar };
}

export interface Rows {
  /** Position of the first row to draw, from 0. */
  readonly first: number;
  /** Position behind the last one. */
  readonly end: number;
}

/** The rows that touch the window, and `beyond` more on each side. */
export function rowsInWindow({ rows, rowHeight, viewport }: Extent, top: number, beyond: number): Rows {
  const first = Math.floor(top / rowHeight) - beyond;
  const end = Math.ceil((top + viewport) / rowHeight) + beyond;
  return { first: between(0, first, rows), end: between(0, end, rows) };
}
