/** Reads fields of bodies that others have sent: whatever has another type than expected counts as absent. Pure. */
import type { EventFacts } from "./words.ts";

export type Body = Readonly<Record<string, unknown>>;

/** Characters of a text that the facts of an event keep. */
const TEXT_CHARS = 2_000;
const LIST_ITEMS = 100;
const NO_COMMIT = /^0+$/;

/** The value at a path of names; undefined where there is none. */
export function at(body: unknown, ...path: readonly string[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Body)[name];
  }
  return value;
}

export function textAt(body: unknown, ...path: readonly string[]): string {
  const value = at(body, ...path);
  return typeof value === "string" ? value.slice(0, TEXT_CHARS) : "";
}

/** The first of these paths that leads to a text that is not empty; "" without one. */
export function firstText(body: unknown, ...paths: readonly (readonly string[])[]): string {
  return paths.map((path) => textAt(body, ...path)).find((text) => text !== "") ?? "";
}

export function isTrueAt(body: unknown, ...path: readonly string[]): boolean {
  return at(body, ...path) === true;
}

export function numberAt(body: unknown, ...path: readonly string[]): number | null {
  const value = at(body, ...path);
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

/** An id, a number or a text; the first of these paths that leads to one. Empty without one. */
export function idAt(body: unknown, ...paths: readonly (readonly string[])[]): string {
  return paths.map((path) => textAt(body, ...path) || String(numberAt(body, ...path) ?? "")).find(Boolean) ?? "";
}

export function listAt(body: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = at(body, ...path);
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The texts under `name` of the items of a list, or the items that are texts. */
export function namesAt(body: unknown, path: readonly string[], name: string): readonly string[] {
  const texts = listAt(body, ...path).map((item) => (typeof item === "string" ? item : textAt(item, name)));
  return texts.filter((text) => text !== "").slice(0, LIST_ITEMS);
}

/** The id of a commit; empty for none, which senders write as zeros. */
export function commitAt(body: unknown, ...path: readonly string[]): string {
  const text = textAt(body, ...path);
  return NO_COMMIT.test(text) ? "" : text;
}

const NOTHING: EventFacts = {
  event: "",
  action: "",
  ref: "",
  fullRef: "",
  branch: "",
  tag: "",
  sha: "",
  before: "",
  repository: "",
  actor: "",
  actorId: "",
  author: "",
  authorId: "",
  message: "",
  deleted: false,
  draft: false,
  number: null,
  head: "",
  labels: [],
  comment: "",
  command: "",
  fork: false,
};

export function factsOf(known: Partial<EventFacts> & Pick<EventFacts, "event">): EventFacts {
  return { ...NOTHING, ...known };
}

const BRANCH = "refs/heads/";
const TAG = "refs/tags/";

/** The fields of a push of a branch or a tag. `fullRef` begins with `refs/`. */
export function pushed(fullRef: string, deleted: boolean): Partial<EventFacts> & Pick<EventFacts, "event"> {
  if (fullRef.startsWith(TAG)) {
    const tag = fullRef.slice(TAG.length);
    return { event: "tag", action: deleted ? "deleted" : "created", ref: tag, fullRef, tag, deleted };
  }
  const branch = fullRef.startsWith(BRANCH) ? fullRef.slice(BRANCH.length) : fullRef;
  return { event: "push", ref: branch, fullRef, branch, deleted };
}

/** The fields of a release, which has a tag. */
export function released(tag: string): Pick<EventFacts, "event" | "ref" | "fullRef" | "tag"> {
  return { event: "release", ref: tag, fullRef: `${TAG}${tag}`, tag };
}

/** The command in the first line of a comment: the word behind a `/`; empty for none. */
export function commandIn(comment: string): string {
  return /^\/([\w-]{1,50})(?=\s|$)/.exec(comment.trimStart())?.[1] ?? "";
}
