/** Objects of Git as its commands print them. Pure. */
import { hash } from "node:crypto";

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** What a commit says about itself. Times are Unix milliseconds. */
export interface CommitFacts {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly authoredAt: number;
  readonly committer: Person;
  readonly committedAt: number;
  readonly message: string;
}

export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly id: string;
}

/** An entry with its path from the root. */
export interface TreeFile extends TreeEntry {
  readonly path: string;
}

export interface BatchObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

const MAX_MESSAGE_CHARS = 10_000;
const MAX_NAME_CHARS = 200;

/** The one object of the output of `git cat-file --batch`; undefined when it is missing. */
export function readBatch(printed: Buffer): BatchObject | undefined {
  const end = printed.indexOf(0x0a);
  const [, id, type, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(printed.subarray(0, end).toString("latin1")) ?? [];
  if (id === undefined || type === undefined) return undefined;
  return { id, type, content: printed.subarray(end + 1, end + 1 + Number(size)) };
}

/** The size of the one object of the output of `git cat-file --batch-check`; undefined when it is missing. */
export function readSize(printed: Buffer): { readonly type: string; readonly size: number } | undefined {
  const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)\n/.exec(printed.toString("latin1")) ?? [];
  return type === undefined ? undefined : { type, size: Number(size) };
}

/** The one entry of the output of `git ls-tree -z`; undefined when there is none. */
export function readTreeEntry(printed: Buffer): TreeEntry | undefined {
  const [, mode, type, id] = /^(\d{6}) (\w+) ([0-9a-f]+)\t/.exec(printed.toString("utf8")) ?? [];
  return mode === undefined || type === undefined || id === undefined ? undefined : { mode, type, id };
}

/** The entries of the output of `git ls-tree -z`. A path that is no UTF-8 has replacement characters. */
export function readTreeFiles(printed: Buffer): readonly TreeFile[] {
  return printed
    .toString("utf8")
    .split("\0")
    .flatMap((line) => {
      const [, mode, type, id, path] = /^(\d{6}) (\w+) ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return mode === undefined || type === undefined || id === undefined || path === undefined
        ? []
        : [{ mode, type, id, path }];
    });
}

/** Source: git-fast-import(1), "mode". */
export function fileKindOf(mode: string): "file" | "symlink" | "folder" | "submodule" {
  switch (mode) {
    case "100644":
    case "100755":
      return "file";
    case "120000":
      return "symlink";
    case "160000":
      return "submodule";
    default:
      return "folder";
  }
}

/** Reads a commit object. What a hostile one leaves out is empty. */
export function readCommit(id: string, content: Buffer): CommitFacts {
  const text = content.toString("utf8");
  const end = text.indexOf("\n\n");
  const lines = (end === -1 ? text : text.slice(0, end)).split("\n");
  const valuesOf = (key: string) =>
    lines.flatMap((line) => (line.startsWith(`${key} `) ? [line.slice(key.length + 1)] : []));
  const [author, authoredAt] = readSignature(valuesOf("author")[0] ?? "");
  const [committer, committedAt] = readSignature(valuesOf("committer")[0] ?? "");
  const message = plain(end === -1 ? "" : text.slice(end + 2)).trimEnd();
  return {
    id,
    parents: valuesOf("parent"),
    author,
    authoredAt,
    committer,
    committedAt,
    message: message.slice(0, MAX_MESSAGE_CHARS),
  };
}

function readSignature(text: string): [Person, number] {
  const [, name = "", email = "", seconds = "0"] = /^(.*?) ?<([^>]*)> (\d+)/.exec(text) ?? [];
  const at = Math.min(Number(seconds) * 1_000, 8.64e15);
  return [{ name: plain(name).slice(0, MAX_NAME_CHARS), email: plain(email).slice(0, MAX_NAME_CHARS) }, at];
}

/** Without control characters; lines stay lines. */
function plain(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]/gu, "");
}

/** The id that Git gives to a text as the content of a file. */
export function blobId(content: string): string {
  return hash("sha1", `blob ${Buffer.byteLength(content)}\0${content}`);
}
