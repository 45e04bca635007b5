/** A value that changes often, once it stays. */
import { useEffect, useState } from "preact/hooks";

/** `value` once it has not changed for a while. */
export function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
