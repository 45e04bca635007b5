/** Diagnostics of a definition in the form that compilers use: place, message, the line of the text and carets. Pure. */
import type { Diagnostic } from "../definition/text/diagnostics.ts";
import type { Includes } from "../definition/include/included-files.ts";
import type { Problem } from "../domain/errors.ts";
import { type Paint, printable } from "./screen.ts";

const TAB = "  ";
/** Of a longer line, only the part around the place is shown. */
const MAX_LINE = 160;
const BEFORE_PLACE = 60;

/** A text that was parsed, with the path as the user gave it. */
export interface ParsedText {
  readonly file: string;
  readonly text: string;
  readonly includes?: Includes | undefined;
}

/** The diagnostics as lines for people. */
export function renderDiagnostics(
  { file, text, includes }: ParsedText,
  diagnostics: readonly Diagnostic[],
  paint: Paint,
): readonly string[] {
  const included = new Map(includes?.files.map((each) => [each.path, "text" in each ? linesOf(each.text) : []]));
  const own = linesOf(text);
  return diagnostics.flatMap((each) => {
    const lines = each.file === undefined ? own : (included.get(each.file) ?? []);
    return renderDiagnostic(printable(each.file ?? file), lines[each.line - 1] ?? "", each, paint);
  });
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** A problem as a diagnostic. It has no range, so it points at one character. */
export function asDiagnostic({ line = 1, column = 1, ...problem }: Problem): Diagnostic {
  const range = { line, column, endLine: line, endColumn: column + 1 };
  return { ...problem, ...range, code: problem.code as Diagnostic["code"], severity: "error" };
}

/** `3 errors, 1 warning`, or `no problems`. */
export function countProblems(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const counts = [plural(errors, "error"), plural(diagnostics.length - errors, "warning")];
  return counts.filter((text) => !text.startsWith("0 ")).join(", ") || "no problems";
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function renderDiagnostic(file: string, source: string, diagnostic: Diagnostic, paint: Paint): readonly string[] {
  const { severity, message, code, line, column, hint } = diagnostic;
  const label = paint(severity === "error" ? "red" : "yellow", `${severity}:`);
  const rendered = [`${file}:${line}:${column}: ${label} ${printable(message)} [${code}]`];
  if (source.trim() !== "") rendered.push(...renderPlace(source, diagnostic, paint));
  if (hint !== undefined) rendered.push(`${" ".repeat(6)}= ${printable(hint)}`);
  return rendered;
}

/** The line of the text, and carets below the range of the diagnostic. */
function renderPlace(source: string, { line, column, endLine, endColumn }: Diagnostic, paint: Paint): string[] {
  const from = source.length <= MAX_LINE ? 0 : Math.max(column - 1 - BEFORE_PLACE, 0);
  const until = Math.min(source.length, from + MAX_LINE);
  const end = Math.min(endLine === line ? endColumn - 1 : source.length, until);
  const [cutBefore, cutAfter] = [from > 0 ? "…" : "", until < source.length ? "…" : ""];
  const before = cutBefore.length + spell(source.slice(from, column - 1)).length;
  const marked = Math.max(spell(source.slice(column - 1, end)).length, 1);
  const margin = `${String(line).padStart(5)} | `;
  return [
    `${margin}${cutBefore}${spell(source.slice(from, until))}${cutAfter}`,
    `${" ".repeat(margin.length - 2)}| ${" ".repeat(before)}${paint("red", "^".repeat(marked))}`,
  ];
}

/** Tabs become spaces, because terminals show them with different widths. Other control characters become dots. */
function spell(part: string): string {
  // eslint-disable-next-line no-control-regex
  return part.replaceAll("\t", TAB).replace(/[\u0000-\u001f\u007f-\u009f]/g, "·");
}
