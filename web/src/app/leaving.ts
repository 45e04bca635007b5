/** Asks the reader before the page is left with changes that are not saved. */
import { useEffect, useRef } from "preact/hooks";

let question: (() => string | undefined) | undefined;

/** False when the reader wants to stay. Code that goes to another page by a key or from the palette asks first. */
export function mayLeave(): boolean {
  const text = question?.();
  return text === undefined || confirm(text);
}

/** While the component is shown, leaving the page asks `text`; undefined asks nothing. */
export function useQuestionBeforeLeaving(text: string | undefined): void {
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    const mine = (): string | undefined => latest.current;
    question = mine;
    const unload = (event: BeforeUnloadEvent) => {
      if (latest.current !== undefined) event.preventDefault();
    };
    // Before the router sees the click.
    const click = (event: MouseEvent) => {
      const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
      if (link === undefined || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (link.target !== "" || link.origin !== location.origin) return;
      if (link.pathname === location.pathname || mayLeave()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    addEventListener("beforeunload", unload);
    addEventListener("click", click, { capture: true });
    return () => {
      if (question === mine) question = undefined;
      removeEventListener("beforeunload", unload);
      removeEventListener("click", click, { capture: true });
    };
  }, []);
}
