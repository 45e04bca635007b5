/** Reads the annotations in the output of a step. Pure. */
import { type AnnotationLevel, readLogCommand } from "../../domain/notes/log-commands.ts";
import { type Annotation, boundedAnnotation } from "../../domain/notes/notes.ts";

/** What a line asks for, except for the number of its line in the log. */
export type ReadAnnotation = Omit<Annotation, "logLine">;

const ESCAPED: Readonly<Record<string, string>> = { "25": "%", "0D": "\r", "0A": "\n", "3A": ":", "2C": "," };

/** Reads the lines of one step. `::stop-commands::<word>` ends the commands until a line `::<word>::`. */
export class LogCommandReader {
  #stopWord: string | undefined;

  /** Undefined for a line that is no annotation. */
  read(line: string): ReadAnnotation | undefined {
    const stopWord = this.#stopWord;
    if (stopWord !== undefined) {
      if (line.trim() === `::${stopWord}::`) this.#stopWord = undefined;
      return undefined;
    }
    const command = readLogCommand(line);
    if (command === undefined) return undefined;
    const { name, level, properties, text } = command;
    if (name === "stop-commands" && text !== "") this.#stopWord = text.trim();
    return level === undefined ? undefined : annotationOf(level, properties, unescapedText(text));
  }
}

function annotationOf(level: AnnotationLevel, properties: string, message: string): ReadAnnotation {
  const values = new Map<string, string>();
  for (const property of properties.split(",")) {
    const at = property.indexOf("=");
    if (at > 0) values.set(property.slice(0, at).trim(), unescapedProperty(property.slice(at + 1)));
  }
  const text = (name: string) => (values.get(name) ?? "").trim();
  const place = (name: string) => (/^\d{1,9}$/.test(text(name)) ? Number(text(name)) : 0);
  return boundedAnnotation({
    level,
    file: text("file"),
    line: place("line"),
    endLine: place("endLine"),
    column: place("col"),
    endColumn: place("endColumn"),
    title: text("title"),
    message,
    logLine: 0,
  });
}

function unescapedText(text: string): string {
  return text.replace(/%(25|0D|0A)/gi, (_, code: string) => ESCAPED[code.toUpperCase()]!);
}

function unescapedProperty(text: string): string {
  return text.replace(/%(25|0D|0A|3A|2C)/gi, (_, code: string) => ESCAPED[code.toUpperCase()]!);
}
