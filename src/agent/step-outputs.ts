/** The outputs of a step, from the file that `MILLRACE_OUTPUT` names. */
import { isUtf8 } from "node:buffer";
import { OUTPUT_BOUNDS } from "../domain/outputs.ts";
import type { SecretFinder, Span } from "./logs/secret-finder.ts";
import type { StepFile } from "./step-file.ts";

/** Twice the bound on outputs: the file also holds delimiters, line ends and values that later lines replace. */
const MAX_FILE_BYTES = 2 * OUTPUT_BOUNDS.bytes;

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

/** Reads the outputs before the first problem, if there is one. Call when no process of the step is left. */
export function readOutputs(file: StepFile, secrets: SecretFinder): StepOutputs {
  const { bytes, size, problem } = file.read(MAX_FILE_BYTES);
  if (problem !== undefined) return nothing(problem);
  // Each byte becomes one character, so lengths count bytes.
  const text = bytes.toString("latin1");
  if (size <= MAX_FILE_BYTES) return parseOutputs(text, secrets);
  const parsed = parseOutputs(text.slice(0, text.lastIndexOf("\n") + 1), secrets);
  return { ...parsed, problem: `it is longer than ${MAX_FILE_BYTES} bytes` };
}

function nothing(problem?: string): StepOutputs {
  return { outputs: {}, withheld: [], problem };
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
