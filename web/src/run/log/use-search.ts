/** A search of the whole log by the server: matches come in their order, and more of them when they are needed. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "../../api/client.ts";
import { problemText } from "../../api/errors.ts";
import { tell } from "../../parts/toast.tsx";
import type { LogStore } from "./log-store.ts";

export interface SearchSettings {
  readonly q: string;
  readonly pattern: boolean;
  readonly ignoreCase: boolean;
}

export interface Search {
  readonly settings: SearchSettings;
  readonly change: (settings: Partial<SearchSettings>) => void;
  readonly matches: readonly Schemas["LogMatch"][];
  /** Position of the match that is looked at, from 0; -1 before the first. */
  readonly at: number;
  /** The server has searched the whole log. */
  readonly isAll: boolean;
  readonly isSearching: boolean;
  /** Goes to another match; answers its line. */
  readonly move: (by: 1 | -1) => Promise<number | undefined>;
}

const AFTER_MS = 200;
/** Matches that the page keeps; whoever looks for more looks for less. */
const MOST = 5_000;

interface Found {
  readonly list: readonly Schemas["LogMatch"][];
  readonly next: string | null;
  readonly isAll: boolean;
}

const NOTHING: Found = { list: [], next: null, isAll: true };

/** `onMatch` gets the line of the first match of a new search. */
export function useSearch(store: LogStore, onMatch: (line: number) => void): Search {
  const [settings, setSettings] = useState<SearchSettings>({ q: "", pattern: false, ignoreCase: true });
  const [found, setFound] = useState<Found>(NOTHING);
  const [at, setAt] = useState(-1);
  const [isSearching, setSearching] = useState(false);
  const abort = useRef(new AbortController());

  /** Searches on until there is a further match, or the log has ended. */
  const readMore = async (before: Found, signal: AbortSignal): Promise<Found> => {
    let now = before;
    setSearching(true);
    try {
      do {
        const answer = await store.search(settings, now.next, signal);
        const list = [...now.list, ...answer.list].slice(0, MOST);
        now = { list, next: answer.next, isAll: answer.next === null || list.length >= MOST };
      } while (!now.isAll && now.list.length === before.list.length);
    } finally {
      if (!signal.aborted) setSearching(false);
    }
    if (!signal.aborted) setFound(now);
    return now;
  };

  useEffect(() => {
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    setFound(NOTHING);
    setAt(-1);
    setSearching(false);
    if (settings.q === "") return undefined;
    const timer = setTimeout(() => {
      readMore({ ...NOTHING, isAll: false }, signal).then(
        ({ list }) => {
          if (signal.aborted || list[0] === undefined) return;
          setAt(0);
          onMatch(list[0].entry.line_number);
        },
        (error: unknown) => {
          if (!signal.aborted) tell(problemText(error), "failed");
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.current.abort();
    };
  }, [settings, store]);

  const move = async (by: 1 | -1): Promise<number | undefined> => {
    let now = found;
    if (at + by >= now.list.length && !now.isAll) now = await readMore(now, abort.current.signal);
    if (now.list.length === 0) return undefined;
    const next = (at + by + now.list.length) % now.list.length;
    setAt(next);
    return now.list[next]!.entry.line_number;
  };

  return {
    settings,
    change: (some) => setSettings((before) => ({ ...before, ...some })),
    matches: found.list,
    at,
    isAll: found.isAll,
    isSearching,
    move,
  };
}
