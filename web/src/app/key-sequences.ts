/** Recognises keys and sequences of two keys, such as `g r`. Pure. */

/** A key press as the browser tells it. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** How bindings write a press: `x`, `?`, `Enter`, `mod+k`; undefined for a press that no binding has. */
export function nameOfPress({ key, ctrlKey, metaKey, altKey }: KeyPress): string | undefined {
  if (altKey || ["Shift", "Control", "Alt", "Meta"].includes(key)) return undefined;
  return ctrlKey || metaKey ? `mod+${key.toLowerCase()}` : key;
}

export type Match =
  | { readonly kind: "found"; readonly keys: string }
  /** The first key of a sequence. */
  | { readonly kind: "begun"; readonly first: string }
  | { readonly kind: "none" };

/** What a press means after `first`, the key that has begun a sequence. */
export function matchPress(bound: readonly string[], first: string | undefined, press: string): Match {
  if (first !== undefined && bound.includes(`${first} ${press}`)) return { kind: "found", keys: `${first} ${press}` };
  if (bound.includes(press)) return { kind: "found", keys: press };
  return bound.some((keys) => keys.startsWith(`${press} `)) ? { kind: "begun", first: press } : { kind: "none" };
}
