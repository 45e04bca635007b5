/** The palette: every page, pipeline and action by its name, and a run by its id. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api } from "../api/client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import bookmark from "lucide-static/icons/bookmark.svg?raw";
import pencil from "lucide-static/icons/pencil.svg?raw";
import play from "lucide-static/icons/circle-play.svg?raw";
import workflow from "lucide-static/icons/workflow.svg?raw";
import zap from "lucide-static/icons/zap.svg?raw";
import logOutIcon from "lucide-static/icons/log-out.svg?raw";
import sunMoon from "lucide-static/icons/sun-moon.svg?raw";
import { words } from "../words.ts";
import { mayLeave } from "./leaving.ts";
import { rankEntries } from "./rank.ts";
import { loadSavedFilters, savedFilters } from "./saved-filters.ts";
import { logOut } from "./session.ts";
import { turnTheme } from "./theme.ts";
import styles from "./palette.module.css";

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly icon: string;
  readonly run: () => void;
}

const RUN_ID = /^run_[0-9A-Z]{10,40}$/i;
const MOST_SHOWN = 12;

export function Palette({
  places,
  onClose,
}: {
  readonly places: readonly { readonly href: string; readonly name: string; readonly icon: string }[];
  readonly onClose: () => void;
}) {
  const { route } = useLocation();
  loadSavedFilters();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [found, setFound] = useState<readonly { readonly pipelineId: string; readonly name: string }[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        // The name of an action begins with what it does.
        const name = text.trim().replace(/^(trigger|edit)\s+/i, "");
        const query = { pageSize: 20, ...(name === "" ? {} : { name }) };
        api.get("/pipelines", { query, signal: abort.signal }).then(
          ({ list }) => setFound(list),
          () => {},
        );
      },
      text === "" ? 0 : 120,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);

  const shown = useMemo(() => {
    const go = (href: string) => () => {
      if (mayLeave()) route(href);
    };
    const entries: readonly Entry[] = [
      ...places.map(({ href, name, icon }) => ({ name, kind: words.palette.pages, icon, run: go(href) })),
      { name: words.nav.me, kind: words.palette.pages, icon: logOutIcon, run: go("/me") },
      ...savedFilters.value.map(({ name, path, query }) => ({
        name,
        kind: words.savedFilters.kind,
        icon: bookmark,
        run: go(`${path}?${query}`),
      })),
      ...found.flatMap(({ pipelineId, name }) => [
        { name, kind: words.palette.pipelines, icon: workflow, run: go(`/pipelines/${pipelineId}`) },
        {
          name: words.pipeline.triggerNamed(name),
          kind: words.palette.actions,
          icon: zap,
          run: go(`/pipelines/${pipelineId}/trigger`),
        },
        {
          name: words.edit.titled(name),
          kind: words.palette.actions,
          icon: pencil,
          run: go(`/pipelines/${pipelineId}/edit`),
        },
      ]),
      { name: words.theme.label, kind: words.palette.actions, icon: sunMoon, run: turnTheme },
      { name: words.me.logOut, kind: words.palette.actions, icon: logOutIcon, run: () => void logOut() },
    ];
    const run = RUN_ID.test(text.trim())
      ? [{ name: text.trim(), kind: words.palette.runs, icon: play, run: go(`/runs/${text.trim()}`) }]
      : [];
    return [...run, ...rankEntries(entries, text)].slice(0, MOST_SHOWN);
  }, [text, found, places]);

  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const press = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) setAt((now) => (now + by + shown.length) % Math.max(1, shown.length));
    else if (event.key === "Enter") choose(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.palette.title} bare onClose={onClose}>
      <input
        class={styles["field"]}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length === 0 ? undefined : `palette-${at}`}
        aria-label={words.palette.title}
        placeholder={words.palette.placeholder}
        autoComplete="off"
        autoFocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id="palette-list" class={styles["list"]} role="listbox" aria-label={words.palette.title}>
        {shown.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name} ${index}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setAt(index)}
            onClick={() => choose(entry)}
          >
            <Icon svg={entry.icon} />
            <span>{entry.name}</span>
            <small>{entry.kind}</small>
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p class={styles["none"]}>{words.palette.none}</p> : null}
    </Dialog>
  );
}
