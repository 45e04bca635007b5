/**
 * Reads the test cases of a JUnit XML file in pieces, in bounded memory. The reader knows no entity but the five of XML, and
 * refuses a document type, so that no text grows.
 */
import { SaxesParser, type SaxesTagPlain } from "saxes";
import { cutText, TEST_BOUNDS, type TestCase } from "../../domain/notes/notes.ts";

const MAX_DEPTH = 50;
const MAX_DURATION_MS = 1_000_000_000;

type Change<T> = { -readonly [K in keyof T]: T[K] };

export class JunitReader {
  readonly #take: (found: TestCase) => void;
  readonly #parser = new SaxesParser({ xmlns: false });
  /** The names of the open suites, and their files. */
  readonly #suites: { readonly name: string; readonly file: string }[] = [];
  #depth = 0;
  #case: Change<TestCase> | undefined;
  /** True within an element whose text belongs to the message of the case. */
  #isInFailure = false;

  constructor(take: (found: TestCase) => void) {
    this.#take = take;
    const parser = this.#parser;
    parser.on("error", (error) => {
      throw error;
    });
    parser.on("doctype", () => parser.fail("a document type is not allowed"));
    parser.on("opentag", (tag) => this.#open(tag));
    parser.on("closetag", ({ name }) => this.#close(name));
    parser.on("text", (text) => this.#addText(text));
    parser.on("cdata", (text) => this.#addText(text));
  }

  /** Throws an error with the place in the file for what is no JUnit XML. */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** Throws as {@link write} does, for a file that ends too early. */
  end(): void {
    this.#parser.close();
  }

  #open({ name, attributes }: SaxesTagPlain): void {
    if (++this.#depth > MAX_DEPTH) this.#parser.fail(`elements are nested more than ${MAX_DEPTH} deep`);
    if (this.#depth === 1 && name !== "testsuites" && name !== "testsuite") {
      this.#parser.fail(`the root of a JUnit report is testsuites or testsuite, not ${cutText(name, 60)}`);
    }
    const found = this.#case;
    if (name === "testsuite") {
      this.#suites.push({ name: attributes["name"] ?? "", file: attributes["file"] ?? "" });
    } else if (name === "testcase") {
      this.#case = this.#caseOf(attributes);
    } else if (found !== undefined && (name === "failure" || name === "error")) {
      found.outcome = "failed";
      this.#isInFailure = true;
      this.#addText(attributes["message"] ?? "");
      this.#addText("\n");
    } else if (found !== undefined && name === "skipped") {
      found.outcome = "skipped";
    } else if (found !== undefined && (name === "flakyFailure" || name === "flakyError")) {
      found.isFlaky = true;
    }
  }

  #close(name: string): void {
    this.#depth--;
    if (name === "testsuite") this.#suites.pop();
    if (name === "failure" || name === "error") this.#isInFailure = false;
    const found = this.#case;
    if (name !== "testcase" || found === undefined) return;
    this.#case = undefined;
    this.#take({ ...found, message: cutText(found.message.trim(), TEST_BOUNDS.message) });
  }

  #caseOf(attributes: Readonly<Record<string, string>>): Change<TestCase> {
    const suite = this.#suites.at(-1);
    const line = Number(attributes["line"]);
    const ms = Number((attributes["time"] ?? "").replaceAll(",", "")) * 1_000;
    return {
      suite: cutText(attributes["classname"] || suite?.name || "", TEST_BOUNDS.name),
      name: cutText(attributes["name"] ?? "", TEST_BOUNDS.name),
      file: cutText(attributes["file"] || suite?.file || "", TEST_BOUNDS.name),
      line: Number.isInteger(line) && line > 0 && line < 1e9 ? line : 0,
      outcome: "passed",
      isFlaky: false,
      durationMs: ms > 0 ? Math.round(Math.min(ms, MAX_DURATION_MS)) : 0,
      message: "",
    };
  }

  #addText(text: string): void {
    const found = this.#case;
    if (!this.#isInFailure || found === undefined || found.message.length > 2 * TEST_BOUNDS.message) return;
    found.message += text.slice(0, 2 * TEST_BOUNDS.message);
  }
}
