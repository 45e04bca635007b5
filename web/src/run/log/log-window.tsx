/**
 * The window of a log: a million lines, of which only those in sight are in the document, and only the pages around them
 * in memory. It opens at the lines of the address, else at the first failure of a step that has ended, else at the end,
 * and follows the end while it is in sight.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { problemText } from "../../api/errors.ts";
import { useKeys } from "../../app/keys.ts";
import { copyText } from "../../parts/copy.ts";
import { Blank, StaleNote, Problem } from "../../parts/problem.tsx";
import { tell } from "../../parts/toast.tsx";
import scroll from "lucide-static/icons/scroll-text.svg?raw";
import { runWords } from "../run-words.ts";
import { type Step, stepHasEnded } from "../run-view.ts";
import { hiddenLines, RowMap } from "./folds.ts";
import { type Lines, linesHash, readLines } from "./line-links.ts";
import { LogBar } from "./log-bar.tsx";
import { LogLine } from "./log-line.tsx";
import { LogStore, type LogPlace } from "./log-store.ts";
import { barHeight, barMoved, type Extent, rowsInWindow, type Scroll, scrollTo, topMost } from "./scaled-scroll.ts";
import { useSearch } from "./use-search.ts";
import styles from "./log.module.css";

const ROW = 20;
const BEYOND = 20;
/** At the end of a log that goes on, no reader scrolls, and each row costs time. */
const BEYOND_AT_END = 2;
const texts = runWords.log;

interface LogWindowProps {
  readonly place: LogPlace;
  readonly step: Step;
  /** The whole page is the log: its lines are in the address. */
  readonly isPage: boolean;
  readonly onStep: ((by: 1 | -1) => void) | undefined;
}

export function LogWindow({ place, step, isPage, onStep }: LogWindowProps) {
  const store = useMemo(() => new LogStore(place), [place.stepRunId]);
  useEffect(() => {
    void store.open();
    return () => store.close();
  }, [store]);
  return <Log key={place.stepRunId} store={store} step={step} isPage={isPage} onStep={onStep} />;
}

/** A wheel moves the bar for so long, with what the browser adds to make it smooth. */
const WHEEL_MS = 1_000;
/** A drag of the bar tells its begin alone. */
const DRAG_MS = 20_000;

function Log({ store, step, isPage, onStep }: Omit<LogWindowProps, "place"> & { readonly store: LogStore }) {
  const element = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState(400);
  const [kept, setAt] = useState<Scroll>({ top: 0, bar: 0 });
  const [isFollowing, follow] = useState(false);
  const [wraps, wrap] = useState(false);
  const [hasTimes, showTimes] = useState(false);
  const [chosen, choose] = useState<Lines | null>(() => (isPage ? readLines(location.hash) : null));
  const [turned, turn] = useState<ReadonlySet<number>>(new Set());
  const opened = useRef(false);
  const slots = useRef<Slots>({ first: 0, offset: 0 });
  /** Until then a move of the bar counts as the reader's. */
  const mayMoveUntil = useRef(0);
  const letMove = (forMs: number) => (): void => void (mayMoveUntil.current = performance.now() + forMs);

  const { pages, groups } = store;
  const version = store.version.value;
  const isOver = stepHasEnded(step);
  const focus = chosen?.from ?? (isOver ? store.firstFailure : null);
  const rows = useMemo(() => {
    // Groups are closed at first, unless the log opens at a line inside or the step still writes them.
    const isOpen = ({ line, end }: { readonly line: number; readonly end: number }): boolean => {
      const isFirst = (focus !== null && line < focus && focus <= end) || (end >= pages.lines && !pages.isComplete);
      return turned.has(line) ? !isFirst : isFirst;
    };
    return { map: new RowMap(pages.lines, hiddenLines(groups, isOpen, store.gaps)), isOpen };
  }, [version, turned, focus, pages]);
  const groupAt = useMemo(() => new Map(groups.map((group) => [group.line, group])), [groups]);
  const extent: Extent = { rows: rows.map.rows, rowHeight: ROW, viewport };
  // Following keeps the end in sight, without a second drawing for the new place.
  const at = isFollowing ? scrollTo(extent, Infinity) : kept;

  const goTo = (scrolled: Scroll): void => setAt(scrolled);
  const stay = (): void => {
    goTo(at);
    follow(false);
  };
  const goToLine = (line: number): void => {
    stay();
    const group = groups.find((one) => one.line < line && line <= one.end);
    if (group !== undefined && rows.map.isHidden(line)) turn(new Set(turned).add(group.line));
    const row = rows.map.rowOf(line);
    const isInSight = row * ROW >= at.top + ROW && (row + 2) * ROW <= at.top + viewport;
    if (!isInSight) goTo(scrollTo(extent, row * ROW - viewport / 3));
  };
  const search = useSearch(store, goToLine);

  // The address of another line of this log, and the way back from it, load no page.
  useEffect(() => {
    if (!isPage) return undefined;
    const goToLink = (): void => {
      const lines = readLines(location.hash);
      choose(lines);
      if (lines !== null) goToLine(lines.from);
    };
    addEventListener("hashchange", goToLink);
    return () => removeEventListener("hashchange", goToLink);
  });

  useLayoutEffect(() => {
    const box = element.current;
    if (box === null) return undefined;
    const observer = new ResizeObserver(() => setViewport(box.clientHeight));
    observer.observe(box);
    setViewport(box.clientHeight);
    return () => observer.disconnect();
  }, [store.isOpen.value]);

  // The first place is chosen once the length of the log is known.
  useLayoutEffect(() => {
    if (!store.isOpen.value || opened.current || viewport === 0) return;
    opened.current = true;
    if (focus === null) {
      // The last lines of a step may come after its end.
      follow(!pages.isComplete);
      goTo(scrollTo(extent, Infinity));
    } else goTo(scrollTo(extent, rows.map.rowOf(focus) * ROW - viewport / 3));
  }, [store.isOpen.value, viewport]);

  // The lines in sight stay where they are, unless the log has become shorter.
  useLayoutEffect(() => {
    if (!isFollowing && at.top > topMost(extent)) goTo(scrollTo(extent, at.top));
  }, [extent.rows, viewport, isFollowing]);

  useLayoutEffect(() => {
    const box = element.current;
    if (box !== null && Math.abs(box.scrollTop - at.bar) > 1) box.scrollTop = at.bar;
  }, [at.bar, extent.rows, viewport]);

  const beyond = isFollowing ? BEYOND_AT_END : BEYOND;
  const inSight = rowsInWindow(extent, at.top, beyond);
  const first = inSight.first < extent.rows ? rows.map.lineAt(inSight.first) : 1;
  const last = inSight.end > 0 ? rows.map.lineAt(inSight.end - 1) : 1;
  useEffect(() => {
    if (store.isOpen.value && pages.lines > 0) pages.want(first, last);
  }, [first, last, version]);

  const moved = (event: { readonly currentTarget: HTMLElement }): void => {
    const bar = event.currentTarget.scrollTop;
    if (Math.abs(bar - at.bar) <= 1) return;
    // While lines come quickly, a browser tells late of places that are left already. Only the reader ends the following.
    if (isFollowing && !isOver && performance.now() > mayMoveUntil.current) return;
    const next = barMoved(extent, at, bar);
    if (next.top < at.top) follow(false);
    else if (!pages.isComplete && next.top >= topMost(extent) - 1) follow(true);
    goTo(next);
  };
  const pick = (line: number, isRange: boolean): void => {
    const lines =
      isRange && chosen !== null
        ? { from: Math.min(chosen.from, line), to: Math.max(chosen.from, line) }
        : { from: line, to: line };
    choose(lines);
    if (isPage) history.replaceState(history.state, "", linesHash(lines));
  };
  const linkTo = ({ runId, stepRunId }: LogPlace): string =>
    `${location.origin}/runs/${runId}/steps/${stepRunId}${chosen === null ? "" : linesHash(chosen)}`;
  const copyLink = (): Promise<void> => copyText(linkTo(store.place), texts.copied);
  const move = (by: 1 | -1): boolean => {
    if (search.settings.q === "") return false;
    search.move(by).then(
      (line) => line !== undefined && goToLine(line),
      (error: unknown) => tell(problemText(error), "failed"),
    );
    return true;
  };
  const toggleFollow = (): void => {
    if (isFollowing) stay();
    else {
      follow(!pages.isComplete);
      goTo(scrollTo(extent, Infinity));
    }
  };
  useKeys([
    { keys: "mod+f", does: texts.search, inFields: true, run: () => focusSearch(element.current) },
    { keys: "n", does: texts.next, run: () => move(1) },
    { keys: "N", does: texts.previous, run: () => move(-1) },
    { keys: "F", does: texts.follow, run: toggleFollow },
    { keys: "z", does: texts.wrap, run: () => wrap(!wraps) },
    { keys: "y", does: texts.copyLink, run: () => void copyLink() },
    { keys: "[", does: texts.previousStep, run: () => (onStep === undefined ? false : onStep(-1)) },
    { keys: "]", does: texts.nextStep, run: () => (onStep === undefined ? false : onStep(1)) },
  ]);

  const problem = store.problem.value;
  if (problem !== undefined && !store.isOpen.value)
    return <Problem error={problem} onRetry={() => void store.open()} />;
  const matches = new Map(search.matches.map((match) => [match.entry.line_number, match.ranges]));
  const current = search.matches[search.at]?.entry.line_number;
  const isAtEnd = at.top >= topMost(extent) - 1;
  const drawn = Array.from({ length: inSight.end - inSight.first }, (_, index) =>
    rows.map.lineAt(inSight.first + index),
  );
  const lines = wraps ? drawn.slice(Math.min(beyond, inSight.first)) : drawn;
  const slotOf = isFollowing ? movedSlots(slots.current, inSight.first, lines.length) : undefined;
  return (
    <section class={styles["log"]} aria-label={texts.label} data-wraps={wraps} data-times={hasTimes}>
      <LogBar
        store={store}
        search={search}
        isOver={isOver}
        isFollowing={isFollowing}
        wraps={wraps}
        hasTimes={hasTimes}
        onMove={(by) => void move(by)}
        onFollow={toggleFollow}
        onWrap={() => wrap(!wraps)}
        onTimes={() => showTimes(!hasTimes)}
        onFailure={store.firstFailure === null ? undefined : () => goToLine(store.firstFailure ?? 1)}
        onCopyLink={copyLink}
      />
      {problem === undefined ? null : <StaleNote error={problem} onRetry={() => pages.want(first, last)} />}
      {store.isOpen.value && pages.lines === 0 ? (
        <Blank icon={scroll} title={isOver ? texts.empty : step.startTime === null ? texts.notBegun : texts.emptyLive}>
          {step.reusedFrom === null ? undefined : texts.reused}
        </Blank>
      ) : (
        <div
          ref={element}
          class={styles["scroller"]}
          tabIndex={0}
          role="region"
          aria-label={texts.lines(pages.lines)}
          data-lines={pages.lines}
          onScroll={moved}
          onWheel={letMove(WHEEL_MS)}
          onTouchMove={letMove(WHEEL_MS)}
          onKeyDown={letMove(WHEEL_MS)}
          onPointerDown={letMove(DRAG_MS)}
        >
          <div class={styles["bar"]} style={{ height: `${barHeight(extent)}px` }}>
            <div
              class={styles["lines"]}
              data-end={wraps && isAtEnd}
              style={linesPlace(wraps, isAtEnd, at, inSight.first, viewport)}
            >
              {lines.map((line, index) => (
                <LogLine
                  key={slotOf?.(index) ?? line}
                  line={line}
                  entry={pages.entry(line)}
                  group={groupAt.get(line)}
                  isGroupOpen={rows.isOpen}
                  ranges={matches.get(line)}
                  isCurrent={line === current}
                  isChosen={chosen !== null && chosen.from <= line && line <= chosen.to}
                  hasTime={hasTimes}
                  onPick={pick}
                  onTurn={(group) => {
                    const next = new Set(turned);
                    if (!next.delete(group)) next.add(group);
                    turn(next);
                  }}
                />
              ))}
            </div>
          </div>
        </div>
      )}
    </section>
  );
}

/** Where the elements of the rows of a log that goes on stand. */
interface Slots {
  first: number;
  offset: number;
}

/**
 * The element of each row, for a log whose first row in sight is now `first`. Elements that leave at the top come again at the
 * end, so that the browser makes no new ones. When every row is another one each element stays where it is, because a place
 * costs more than a text.
 */
function movedSlots(slots: Slots, first: number, count: number): (index: number) => number {
  const by = first - slots.first;
  slots.first = first;
  if (Math.abs(by) < count) slots.offset += by;
  const { offset } = slots;
  return (index) => (((offset + index) % count) + count) % count;
}

/** Wrapped lines have no known height: they begin at the first line in sight, and at the end of the log they end there. */
function linesPlace(
  wraps: boolean,
  isAtEnd: boolean,
  at: Scroll,
  firstRow: number,
  viewport: number,
): { readonly [key: string]: string } {
  if (wraps) return isAtEnd ? { bottom: "auto", top: `${at.bar}px`, height: `${viewport}px` } : { top: `${at.bar}px` };
  return { top: `${at.bar - (at.top - firstRow * ROW)}px` };
}

function focusSearch(inside: HTMLElement | null): boolean {
  const field = (inside?.closest("section") ?? document).querySelector<HTMLInputElement>("input[type=search]");
  field?.focus();
  field?.select();
  return field !== null && field !== undefined;
}
