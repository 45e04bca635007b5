/**
 * The outputs of a step: the agent creates the file that `MILLRACE_OUTPUT` names, and reads it after the step. The step
 * may have replaced the file by anything: another file, a pipe, a link.
 */
import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OUTPUT_BOUNDS } from "../domain/outputs.ts";
import { giveTo, type Owner } from "./process/step-user.ts";
import type { SecretFinder, Span } from "./logs/secret-finder.ts";
import type { Trash } from "./trash.ts";

/** Twice the bound on outputs: the file also holds delimiters, line ends and values that later lines replace. */
const MAX_FILE_BYTES = 2 * OUTPUT_BOUNDS.bytes;
/** Opening a pipe must not wait for a writer, and no link may be followed. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export interface StepOutputs {
  readonly outputs: Readonly<Record<string, string>>;
  /**
   * Masked names of the outputs that were left out because their lines hold a secret or a part of one: a secret may
   * span the lines of several outputs.
   */
  readonly withheld: readonly string[];
  /** The first problem of the file, with its line number and without text of the step; undefined when there is none. */
  readonly problem: string | undefined;
}

export interface OutputsFile {
  readonly path: string;
  /** Call when no process of the step is left. Returns the outputs before the first problem, if there is one. */
  read(secrets: SecretFinder): StepOutputs;
  /** Removes the file, or what the step has put in its place. */
  dispose(): void;
}

/** Creates an empty file in `folder` that only the user of the step may read. */
export function makeOutputsFile(folder: string, trash: Trash, user?: Owner): OutputsFile {
  const path = join(folder, `outputs-${randomUUID()}`);
  writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  giveTo(user, path);
  return {
    path,
    read: (secrets) => readOutputs(path, secrets),
    dispose: () => remove(path, trash),
  };
}

function remove(path: string, trash: Trash): void {
  try {
    rmSync(path, { force: true });
  } catch {
    trash.take(path); // A folder.
  }
}

function readOutputs(path: string, secrets: SecretFinder): StepOutputs {
  let file: number | undefined;
  try {
    file = openSync(path, OPEN_FLAGS);
    const stats = fstatSync(file);
    if (!stats.isFile()) return nothing("it is no longer a regular file");
    if (stats.size === 0) return nothing();
    if (stats.size <= MAX_FILE_BYTES) return parseOutputs(readStart(file, stats.size), secrets);
    const start = readStart(file, MAX_FILE_BYTES);
    const parsed = parseOutputs(start.slice(0, start.lastIndexOf("\n") + 1), secrets);
    return { ...parsed, problem: `it is longer than ${MAX_FILE_BYTES} bytes` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return nothing("it was removed");
    if (code === "ELOOP" || code === "ENXIO") return nothing("it is no longer a regular file");
    return nothing(`the system refuses it (${code})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function nothing(problem?: string): StepOutputs {
  return { outputs: {}, withheld: [], problem };
}

/**
 * The first `length` bytes, or fewer if the file is shorter. Each byte becomes one character, so lengths count bytes.
 */
function readStart(file: number, length: number): string {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, null);
    if (count === 0) break;
    filled += count;
  }
  return bytes.toString("latin1", 0, filled);
}

/** Reads lines `name=value`, and `name<<DELIMITER` followed by the value and a line that is the delimiter alone. */
function parseOutputs(text: string, secrets: SecretFinder): StepOutputs {
  const written = text.split("\n");
  const lines = written.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const spans = secrets.isEmpty ? [] : secrets.find(Buffer.from(text, "latin1")).spans;
  const values = new Map<string, string>();
  /** The names of those of `values` that are left out, each with the text that may be shown instead. */
  const withheld = new Map<string, string>();
  const answer = (problem?: string): StepOutputs => bounded(values, withheld, problem);
  for (let index = 0, next = 0; index < lines.length; index++) {
    const start = next;
    const line = lines[index]!;
    next += written[index]!.length + 1;
    if (/^[ \t]*$/.test(line)) continue;
    const at = `line ${index + 1}`;
    const [, name, operator, rest] = /^(.*?)(=|<<)(.*)$/s.exec(line) ?? [];
    if (name === undefined) return answer(`${at} has no "="`);
    const wrong = problemOfName(name);
    if (wrong !== undefined) return answer(`${at} ${wrong}`);
    let value = rest!;
    if (operator === "<<") {
      if (rest === "") return answer(`${at} has no delimiter after "<<"`);
      const end = lines.indexOf(rest!, index + 1);
      if (end === -1) return answer(`the value that begins in ${at} has no line with its delimiter alone`);
      value = lines.slice(index + 1, end).join("\n");
      while (index < end) next += written[++index]!.length + 1;
    }
    if (!isUtf8(Buffer.from(value, "latin1"))) return answer(`the value in ${at} is not UTF-8`);
    values.set(name, value);
    withheld.delete(name);
    if (isCovered(spans, start, next)) {
      withheld.set(name, isCovered(spans, start, start + name.length) ? "***" : name);
    }
  }
  return answer();
}

/** Whether a secret covers any of the bytes from `start` to `end`. */
function isCovered(spans: readonly Span[], start: number, end: number): boolean {
  return spans.some(([from, to]) => from < end && to > start);
}

function problemOfName(name: string): string | undefined {
  if (!/^[A-Za-z_][\w-]{0,63}$/.test(name)) {
    return "has no name of 1 to 64 letters, digits, _ and - that begins with a letter or _";
  }
  // The objects into which protobuf messages are decoded cannot hold this name.
  return name === "__proto__" ? 'has the name "__proto__", which no output can have' : undefined;
}

/** Keeps as many outputs as the bounds allow. Leaving one out is a problem, unless there is another problem already. */
function bounded(
  values: ReadonlyMap<string, string>,
  withheld: ReadonlyMap<string, string>,
  problem?: string,
): StepOutputs {
  const outputs: [name: string, value: string][] = [];
  let bytes = 0;
  for (const [name, value] of values) {
    bytes += name.length + value.length;
    if (bytes > OUTPUT_BOUNDS.bytes) {
      problem ??= `names and values have more than ${OUTPUT_BOUNDS.bytes} bytes in all`;
      break;
    }
    if (outputs.length === OUTPUT_BOUNDS.count) {
      problem ??= `there are more than ${OUTPUT_BOUNDS.count} names`;
      break;
    }
    outputs.push([name, Buffer.from(value, "latin1").toString()]);
  }
  const taken = outputs.filter(([name]) => !withheld.has(name));
  return { outputs: Object.fromEntries(taken), withheld: [...withheld.values()], problem };
}
