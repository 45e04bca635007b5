/** The bar above a log: the search, and how the log is shown. */
import { useRef } from "preact/hooks";
import arrowDown from "lucide-static/icons/chevron-down.svg?raw";
import arrowUp from "lucide-static/icons/chevron-up.svg?raw";
import caseIcon from "lucide-static/icons/case-sensitive.svg?raw";
import clock from "lucide-static/icons/clock.svg?raw";
import download from "lucide-static/icons/download.svg?raw";
import follow from "lucide-static/icons/arrow-down-to-line.svg?raw";
import link from "lucide-static/icons/link.svg?raw";
import regex from "lucide-static/icons/regex.svg?raw";
import triangle from "lucide-static/icons/triangle-alert.svg?raw";
import wrapIcon from "lucide-static/icons/wrap-text.svg?raw";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { runWords } from "../run-words.ts";
import type { LogStore } from "./log-store.ts";
import type { Search } from "./use-search.ts";
import styles from "./log.module.css";

interface LogBarProps {
  readonly store: LogStore;
  readonly search: Search;
  readonly isOver: boolean;
  readonly isFollowing: boolean;
  readonly wraps: boolean;
  readonly hasTimes: boolean;
  readonly onMove: (by: 1 | -1) => void;
  readonly onFollow: () => void;
  readonly onWrap: () => void;
  readonly onTimes: () => void;
  readonly onFailure: (() => void) | undefined;
  readonly onCopyLink: () => Promise<void>;
}

const texts = runWords.log;

export function LogBar(props: LogBarProps) {
  const { store, search, isOver, isFollowing, wraps, hasTimes, onMove } = props;
  const { settings, change } = search;
  const field = useRef<HTMLInputElement>(null);
  const { pipelineId, runId, stepRunId } = store.place;
  return (
    <div class={styles["tools"]} role="toolbar" aria-label={texts.label}>
      <div class={styles["search"]}>
        <input
          ref={field}
          type="search"
          aria-label={texts.search}
          placeholder={texts.search}
          value={settings.q}
          maxLength={200}
          onInput={(event) => change({ q: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter") {
              event.preventDefault();
              onMove(event.shiftKey ? -1 : 1);
            } else if (event.key === "Escape") {
              event.stopPropagation();
              event.preventDefault();
              change({ q: "" });
              field.current?.blur();
            }
          }}
        />
        <span class={styles["found"]} role="status">
          {foundText(search)}
        </span>
        <Button
          kind="quiet"
          icon={caseIcon}
          label={texts.ignoreCase}
          pressed={settings.ignoreCase}
          onClick={() => change({ ignoreCase: !settings.ignoreCase })}
        />
        <Button
          kind="quiet"
          icon={regex}
          label={texts.pattern}
          pressed={settings.pattern}
          onClick={() => change({ pattern: !settings.pattern })}
        />
        <Button
          kind="quiet"
          icon={arrowUp}
          label={texts.previous}
          disabled={search.matches.length === 0}
          onClick={() => onMove(-1)}
        />
        <Button
          kind="quiet"
          icon={arrowDown}
          label={texts.next}
          disabled={search.matches.length === 0}
          onClick={() => onMove(1)}
        />
      </div>
      <div class={styles["view"]}>
        {props.onFailure === undefined ? null : (
          <Button kind="quiet" icon={triangle} label={texts.firstFailure} onClick={props.onFailure} />
        )}
        <Button
          kind="quiet"
          icon={follow}
          label={isFollowing ? texts.following : texts.follow}
          pressed={isFollowing}
          onClick={props.onFollow}
          {...(isOver ? { title: runWords.log.follow } : {})}
        />
        <Button kind="quiet" icon={wrapIcon} label={texts.wrap} pressed={wraps} onClick={props.onWrap} />
        <Button kind="quiet" icon={clock} label={texts.times} pressed={hasTimes} onClick={props.onTimes} />
        <Button kind="quiet" icon={link} label={texts.copyLink} onClick={props.onCopyLink} />
        <a
          class={styles["download"]}
          href={`/api/v1/pipelines/${pipelineId}/runs/${runId}/steps/${stepRunId}/logs/text${hasTimes ? "?timestamps=true" : ""}`}
          download={`${stepRunId}.log`}
          target="_blank"
          rel="noopener"
          aria-label={texts.download}
          title={texts.download}
        >
          <Icon svg={download} />
        </a>
      </div>
    </div>
  );
}

function foundText({ settings, matches, at, isAll, isSearching }: Search): string {
  if (settings.q === "") return "";
  if (matches.length === 0) return isSearching || !isAll ? texts.searching : texts.none;
  return texts.found(at + 1, matches.length, isAll);
}
