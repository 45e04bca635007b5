/**
 * Entity tags of single objects. A tag has two parts: the first is of what callers can change, the second of the whole
 * answer. `If-None-Match` compares the whole tag. `If-Match` compares the first part alone, so that a pipeline can be
 * changed although a run of it has begun since it was read.
 */
import { hash } from "node:crypto";
import { MillraceError } from "../../domain/errors.ts";
import type { ApiContext } from "../request/state.ts";

/** The tag of an object. `changeable`: the part of it that callers can change. */
export function tagOf(whole: unknown, changeable: unknown = whole): string {
  const all = JSON.stringify(whole);
  return quoted(digest(changeable === whole ? all : JSON.stringify(changeable)), digest(all));
}

/** The tag of an answer that is JSON already; `detail` is the text without what changes with each answer. */
export function tagOfJson(detail: Uint8Array): string {
  const part = hash("sha1", detail, "base64url");
  return quoted(part, part);
}

/** Sends the tag, and answers 304 when the caller has this state of the object already. */
export function sendTag(ctx: ApiContext, tag: string): void {
  ctx.set("ETag", tag);
  if (ctx.method !== "GET" && ctx.method !== "HEAD") return;
  const known = tagsOf(ctx.get("if-none-match"));
  if (known.includes("*") || known.includes(tag)) {
    ctx.status = 304;
    ctx.body = null;
  }
}

/** True when the change is to be made only on a certain state of the object. */
export function hasCondition(ctx: ApiContext): boolean {
  return ctx.get("if-match") !== "";
}

/** Throws `precondition_failed` unless the object has one of the states that the caller names. */
export function requireMatch(ctx: ApiContext, tag: string): void {
  const wanted = tagsOf(ctx.get("if-match"));
  if (wanted.includes("*") || wanted.some((one) => changeablePart(one) === changeablePart(tag))) return;
  throw new MillraceError(
    "precondition_failed",
    `the object has changed since it was read: its ETag is ${tag} now; read it again and repeat the change`,
  );
}

function tagsOf(header: string): readonly string[] {
  return header === "" ? [] : header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
}

function changeablePart(tag: string): string {
  return tag.slice(1, -1).split(".", 1)[0]!;
}

function quoted(changeable: string, whole: string): string {
  return `"${changeable}.${whole}"`;
}

function digest(text: string): string {
  return hash("sha1", text, "base64url");
}
