/** Diagnostics of a definition as compilers print them: place, message, the line itself and a caret. Pure. */
import type { Diagnostic } from "../definition/diagnostics.ts";
import type { Paint } from "./screen.ts";

const TAB = "  ";

/** Lines for people; `file` as the user named it, `text` what was parsed. */
export function renderDiagnostic(file: string, text: string, diagnostic: Diagnostic, paint: Paint): readonly string[] {
  const { severity, message, code, line, column, endLine, endColumn, hint } = diagnostic;
  const label = paint(severity === "error" ? "red" : "yellow", `${severity}:`);
  const rendered = [`${file}:${line}:${column}: ${label} ${message} [${code}]`];
  const source = text.split(/\r?\n/)[line - 1];
  if (source !== undefined && source.trim() !== "") {
    const until = endLine === line ? endColumn : source.length + 1;
    // Tabs are as wide as the terminal likes, so both lines spell them out.
    const spelled = (part: string) => part.replaceAll("\t", TAB);
    const before = spelled(source.slice(0, column - 1)).length;
    const marked = Math.max(spelled(source.slice(column - 1, until - 1)).length, 1);
    const margin = `${String(line).padStart(5)} | `;
    rendered.push(`${margin}${spelled(source)}`);
    rendered.push(`${" ".repeat(margin.length - 2)}| ${" ".repeat(before)}${paint("red", "^".repeat(marked))}`);
  }
  if (hint !== undefined) rendered.push(`${" ".repeat(6)}= ${hint}`);
  return rendered;
}
