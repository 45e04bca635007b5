/** Collects the annotations in the output of one step. */
import { LINE_LEVELS } from "../../domain/notes/log-commands.ts";
import { type Annotation, type Annotations, NOTE_BOUNDS } from "../../domain/notes/notes.ts";
import { LogCommandReader, type ReadAnnotation } from "./log-command-reader.ts";
import type { SecretFinder } from "./secret-finder.ts";

export class AnnotationCapture {
  readonly #commands = new LogCommandReader();
  readonly #secrets: SecretFinder;
  readonly #list: Annotation[] = [];
  #leftOut = 0;

  /** `secrets` are masked in what is kept: removing an escape may complete a secret that the line did not show. */
  constructor(secrets: SecretFinder) {
    this.#secrets = secrets;
  }

  get annotations(): Annotations {
    return { list: [...this.#list], leftOut: this.#leftOut };
  }

  /** Reads a line, lets `add` add it to the log under its level, and keeps its annotation. */
  take(line: string, add: (level: string | undefined) => bigint): void {
    const found = this.#commands.read(line);
    const logLine = add(found && LINE_LEVELS[found.level]);
    if (found === undefined) return;
    if (this.#list.length < NOTE_BOUNDS.annotations) this.#list.push(this.#masked(found, Number(logLine)));
    else this.#leftOut++;
  }

  #masked(found: ReadAnnotation, logLine: number): Annotation {
    const { file, title, message } = found;
    const mask = (text: string) => this.#secrets.mask(text);
    return { ...found, file: mask(file), title: mask(title), message: mask(message), logLine };
  }
}
