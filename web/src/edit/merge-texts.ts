/** Compares texts and takes over what another has changed. Pure. */
import { applyPatch, createTwoFilesPatch, structuredPatch } from "diff";

/** Beyond so many changed lines a comparison takes too long. */
const MAX_CHANGED_LINES = 1_000;

/** A unified comparison without its head; empty when nothing differs, undefined when too much does. */
export function compareTexts(before: string, after: string): string | undefined {
  if (before === after) return "";
  const patch = createTwoFilesPatch("", "", before, after, "", "", { maxEditLength: MAX_CHANGED_LINES });
  return patch?.slice(Math.max(0, patch.indexOf("@@")));
}

/** `mine` with what changed from `base` to `theirs`; undefined where both have changed the same lines. */
export function takeOver(base: string, theirs: string, mine: string): string | undefined {
  const patch = structuredPatch("", "", base, theirs, "", "", { maxEditLength: MAX_CHANGED_LINES });
  const merged = patch === undefined ? false : applyPatch(mine, patch);
  return merged === false ? undefined : merged;
}
