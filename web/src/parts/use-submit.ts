/** What a form does when it is submitted, once at a time. */
import { useRef, useState } from "preact/hooks";
import { problemText } from "../api/errors.ts";
import { tell } from "./toast.tsx";

export interface Submit {
  /** Begins the act, unless it runs already. What it rejects with is told. */
  readonly submit: (event?: Event) => void;
  readonly isRunning: boolean;
}

/** A second press of a key or a button begins nothing while `act` runs: it would start a second run, for example. */
export function useSubmit(act: () => Promise<unknown>): Submit {
  // The state alone counts only when the page is drawn again, and two presses may come before that.
  const isBegun = useRef(false);
  const [isRunning, setRunning] = useState(false);
  const submit = (event?: Event): void => {
    event?.preventDefault();
    if (isBegun.current) return;
    isBegun.current = true;
    setRunning(true);
    act()
      .catch((error: unknown) => tell(problemText(error), "failed"))
      .finally(() => {
        isBegun.current = false;
        setRunning(false);
      });
  };
  return { submit, isRunning };
}
