/** One line of a log. Its text is text: colours come as classes, and nothing in it becomes markup. */
import { memo } from "./memo.ts";
import chevron from "lucide-static/icons/chevron-right.svg?raw";
import { Icon } from "../../parts/icon.tsx";
import { runWords } from "../run-words.ts";
import type { Group } from "./folds.ts";
import { annotationMark, lineText, markRanges, type Range } from "./line-text.ts";
import { gapOf } from "./log-store.ts";
import type { LogEntry } from "./pages.ts";
import styles from "./log.module.css";

interface LogLineProps {
  readonly line: number;
  /** Undefined until it is read. */
  readonly entry: LogEntry | undefined;
  /** The group that the line begins. */
  readonly group: Group | undefined;
  readonly isGroupOpen: (group: Group) => boolean;
  readonly ranges: readonly Range[] | undefined;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
  readonly hasTime: boolean;
  readonly onPick: (line: number, isRange: boolean) => void;
  readonly onTurn: (line: number) => void;
}

const texts = runWords.log;
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

export function LogLine(props: LogLineProps) {
  const { line, entry, group, isGroupOpen, ranges, isCurrent, isChosen, hasTime, onPick, onTurn } = props;
  return (
    <div
      class={styles["line"]}
      data-line={line}
      data-level={entry?.level}
      data-chosen={isChosen}
      data-current={isCurrent}
    >
      <a
        class={styles["number"]}
        href={`#L${line}`}
        aria-label={texts.line(line)}
        onClick={(event) => {
          event.preventDefault();
          event.stopPropagation();
          onPick(line, event.shiftKey);
        }}
      >
        {line}
      </a>
      {hasTime ? (
        <span class={styles["time"]}>{entry === undefined ? "" : clock.format(entry.timestamp * 1_000)}</span>
      ) : null}
      {group === undefined || entry === undefined ? (
        <Text entry={entry} ranges={ranges} />
      ) : (
        <button
          type="button"
          class={styles["group"]}
          aria-expanded={isGroupOpen(group)}
          title={isGroupOpen(group) ? texts.closeGroup : texts.openGroup}
          onClick={() => onTurn(group.line)}
        >
          <span data-open={isGroupOpen(group)} class={styles["chevron"]}>
            <Icon svg={chevron} size={14} />
          </span>
          <span>{lineText(group.name).pieces.map(({ text }) => text)}</span>
          <span class={styles["muted"]}>
            {texts.lines(Math.max(0, group.end - group.line - (group.hasEndMark ? 1 : 0)))}
          </span>
        </button>
      )}
    </div>
  );
}

const Text = memo(
  ({ entry, ranges }: { readonly entry: LogEntry | undefined; readonly ranges: readonly Range[] | undefined }) => {
    if (entry === undefined) return <span class={styles["text"]} data-unread="" />;
    const gap = gapOf(entry);
    if (gap !== null) return <span class={styles["gap"]}>{texts.gap(gap.from, gap.to)}</span>;
    const annotation = annotationMark(entry.content, entry.level);
    const { pieces, overwritten } = lineText(entry.content, annotation?.messageAt);
    return (
      <span class={styles["text"]} data-stream={entry.stream}>
        {annotation === null ? null : <strong>{texts.annotation[annotation.kind]}</strong>}
        {overwritten === 0 ? null : (
          <span class={styles["overwritten"]} title={texts.overwritten(overwritten)}>
            ↻{overwritten}
          </span>
        )}
        {markRanges(pieces, ranges ?? []).map(({ text, classes, color, background, isMatch }, at) => {
          if (classes === "" && color === null && background === null && !isMatch) return text;
          const colors = {
            ...(color === null ? {} : { color: `rgb(${color})` }),
            ...(background === null ? {} : { backgroundColor: `rgb(${background})` }),
          };
          const names = classes.split(" ").flatMap((name) => styles[name] ?? []);
          return isMatch ? (
            <mark key={at} class={names.join(" ")} style={colors}>
              {text}
            </mark>
          ) : (
            <span key={at} class={names.join(" ")} style={colors}>
              {text}
            </span>
          );
        })}
      </span>
    );
  },
);
