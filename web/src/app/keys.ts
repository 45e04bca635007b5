/** The keys of the page. Each page binds its own while it is shown, and the help lists what is bound. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { matchPress, nameOfPress } from "./key-sequences.ts";

export interface Binding {
  /** `x`, `?`, `Enter`, `mod+k` (Ctrl or Cmd), or two keys one after the other: `g r`. */
  readonly keys: string;
  /** For the help. */
  readonly does: string;
  /** Answers false when the key means nothing now; the browser then does what it does with the key. */
  readonly run: (event: KeyboardEvent) => void | boolean;
  /** True for keys that work in a text field too. */
  readonly inFields?: boolean;
}

interface BindingGroup {
  readonly isGlobal: boolean;
  bindings: readonly Binding[];
}

const OFF_KEY = "millrace.keys-off";
/** The second key of a sequence must come within this time. */
const SEQUENCE_MS = 1_500;

/** False when the reader has switched off keys without Ctrl or Cmd, for example because a screen reader needs them. */
export const keysOn = signal(localStorage.getItem(OFF_KEY) === null);
const groups: BindingGroup[] = [];
let first: { readonly key: string; readonly at: number } | undefined;

export function switchKeys(on: boolean): void {
  keysOn.value = on;
  if (on) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, "yes");
}

/** What is bound now: the keys of the page first. */
export function boundKeys(): { readonly here: readonly Binding[]; readonly everywhere: readonly Binding[] } {
  const of = (isGlobal: boolean) => groups.filter((group) => group.isGlobal === isGlobal).flatMap((g) => g.bindings);
  return { here: of(false), everywhere: of(true) };
}

/** Binds keys while the component is shown. A later binding of the same keys goes first. */
export function useKeys(bindings: readonly Binding[], { isGlobal = false } = {}): void {
  const group = useRef<BindingGroup | undefined>(undefined);
  if (group.current !== undefined) group.current.bindings = bindings;
  useEffect(() => {
    const mine: BindingGroup = { isGlobal, bindings };
    group.current = mine;
    groups.unshift(mine);
    return () => {
      group.current = undefined;
      groups.splice(groups.indexOf(mine), 1);
    };
  }, []);
}

/** The page calls it once. */
export function listenToKeys(): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const press = nameOfPress(event);
    if (press === undefined) return;
    const isField = isTextField(event);
    if (!press.startsWith("mod+") && !keysOn.value && press !== "Escape") return;
    const usable = groups.flatMap(({ bindings }) => bindings).filter(({ inFields }) => !isField || inFields === true);
    // A dialog that is open has the keys to itself.
    if (document.querySelector("dialog[open]") !== null && !press.startsWith("mod+")) return;
    const begun = first !== undefined && Date.now() - first.at < SEQUENCE_MS ? first.key : undefined;
    const match = matchPress(
      usable.map(({ keys }) => keys),
      begun,
      press,
    );
    first = match.kind === "begun" ? { key: match.first, at: Date.now() } : undefined;
    if (match.kind !== "found") return;
    for (const binding of usable) {
      if (binding.keys !== match.keys || binding.run(event) === false) continue;
      event.preventDefault();
      return;
    }
  };
  addEventListener("keydown", listener);
  return () => removeEventListener("keydown", listener);
}

/** Inside a shadow root the target of the event is the root's host, so the path is asked. */
function isTextField(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}
