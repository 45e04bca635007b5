/**
 * Commands that a step writes into its output, one a line: `::error file=a.c,line=3::text` annotates a place in a file. The
 * syntax is that of GitHub's workflow commands, so that problem reporters of common tools work unchanged. The agent and
 * the web page read lines with it. Pure.
 */

export const ANNOTATION_LEVELS = ["error", "warning", "notice"] as const;
export type AnnotationLevel = (typeof ANNOTATION_LEVELS)[number];

/** The level of an annotation's line in the log. */
export const LINE_LEVELS: Readonly<Record<AnnotationLevel, string>> = {
  error: "error",
  warning: "warn",
  notice: "info",
};

export interface LogCommand {
  readonly name: string;
  /** The level with which the command annotates; undefined for another command. */
  readonly level: AnnotationLevel | undefined;
  /** As written: `file=a.c,line=3`; empty for none. */
  readonly properties: string;
  /** As written. */
  readonly text: string;
}

const COMMAND = /^\s*::([A-Za-z-]+)(?: ([^]*?))?::([^]*)$/;

/** Undefined for a line that is no command. */
export function readLogCommand(line: string): LogCommand | undefined {
  // Nearly every line ends here.
  if (!line.includes("::")) return undefined;
  const match = COMMAND.exec(line);
  if (match === null) return undefined;
  const [, name = "", properties = "", text = ""] = match;
  return { name, level: ANNOTATION_LEVELS.find((level) => level === name), properties, text };
}
