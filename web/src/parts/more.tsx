/** A list with a cursor of which the reader asks for more. */
import { useEffect, useState } from "preact/hooks";
import { type Resource, useResource } from "../api/resource.ts";
import { words } from "../words.ts";
import { Button } from "./button.tsx";

interface CursorPage<T> {
  readonly list: readonly T[];
  readonly next: string | null;
}

export interface More<T> {
  readonly pages: Resource<CursorPage<T>>;
  /** All that was read. */
  readonly list: readonly T[];
  readonly more: (() => void) | undefined;
  /** Reads the list from its beginning. */
  readonly reload: () => void;
}

/** `load`: reads the page behind a cursor; the first for undefined. */
export function usePages<T>(
  load: (after: string | undefined, signal: AbortSignal) => Promise<CursorPage<T>>,
  inputs: readonly unknown[],
): More<T> {
  const key = JSON.stringify(inputs);
  const [after, setAfter] = useState<{ readonly key: string; readonly cursor: string } | undefined>(undefined);
  const [earlier, setEarlier] = useState<readonly T[]>([]);
  const cursor = after?.key === key ? after.cursor : undefined;
  const pages = useResource((signal) => load(cursor, signal), [key, cursor]);
  useEffect(() => {
    setAfter(undefined);
    setEarlier([]);
  }, [key]);
  const { value, isLoading } = pages;
  const list = cursor === undefined ? (value?.list ?? []) : [...earlier, ...(isLoading ? [] : (value?.list ?? []))];
  const next = value?.next ?? null;
  return {
    pages,
    list,
    more:
      next === null || isLoading
        ? undefined
        : () => {
            setEarlier(list);
            setAfter({ key, cursor: next });
          },
    reload: () => {
      setEarlier([]);
      if (cursor === undefined) pages.reload();
      else setAfter(undefined);
    },
  };
}

export function MoreButton({ of }: { readonly of: Pick<More<unknown>, "more"> }) {
  return of.more === undefined ? null : (
    <p style={{ marginBlockStart: "10px" }}>
      <Button onClick={of.more}>{words.actions.more}</Button>
    </p>
  );
}
