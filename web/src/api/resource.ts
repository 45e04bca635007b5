/** A value that a page loads, and what has become of the attempt. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { busyMs, problemKind } from "./errors.ts";

export interface Resource<T> {
  /** The newest value, kept while the next one is loaded. */
  readonly value: T | undefined;
  /** Why the newest attempt failed; undefined once an attempt succeeds. */
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /** Changes the value in the page alone, for example by a message of the server. */
  readonly update: (change: (value: T) => T) => void;
}

interface State<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

/** While the server does not answer, or has no room for the call, the page asks again after this time. */
const ASK_AGAIN_MS = 5_000;

/**
 * Loads a value again whenever one of `inputs` changes, and drops answers that come too late. While the server does not
 * answer, or is too busy, the attempt is repeated.
 */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Resource<T> {
  const [state, setState] = useState<State<T>>({ value: undefined, error: undefined, isLoading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(() => setTurn((n) => n + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState((before) => ({ ...before, isLoading: true }));
    latest.current(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...before, error, isLoading: false }));
        const busy = busyMs(error);
        if (problemKind(error) !== "offline" && busy === undefined) return;
        timer = setTimeout(reload, Math.max(busy ?? 0, ASK_AGAIN_MS));
        addEventListener("online", reload, { signal: abort.signal });
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...inputs, turn]);

  const update = useCallback(
    (change: (value: T) => T) =>
      setState((before) => (before.value === undefined ? before : { ...before, value: change(before.value) })),
    [],
  );
  return { ...state, reload, update };
}
