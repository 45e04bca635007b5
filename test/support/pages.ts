/** The Markdown pages that users read, and the parts of a page that tests check. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Paths of the pages, relative to the root of the project. */
export const PAGES: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "bench/README.md",
  "bench/tried.md",
  "clients/typescript/README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("README.md"))
    .map((path) => `examples/${path}`),
];

export const readPage = (path: string): string => readFileSync(join(ROOT, path), "utf8");
export const exists = (path: string): boolean => existsSync(join(ROOT, path));

export interface CodeBlock {
  /** Line of the opening fence, counted from 1. */
  readonly line: number;
  /** The text after the opening fence, such as `sh`. */
  readonly info: string;
  readonly text: string;
}

export function blocksOf(markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: info, 2: text }) => ({
    line: markdown.slice(0, index).split("\n").length,
    info: info!,
    text: text!,
  }));
}

/** The page without its code blocks. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(/^```.*\n[\s\S]*?^```$/gm, "");
}

/** The section from a heading to the next one. Throws when the page has no such heading. */
export function under(markdown: string, heading: string): string {
  const at = markdown.indexOf(`# ${heading}\n`);
  if (at < 0) throw new Error(`there is no heading ${heading}`);
  return markdown.slice(at).split(/\n#+ /)[0]!;
}

/** The anchors that GitHub gives the headings of a page. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading] of proseOf(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const text = heading!.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "").replaceAll(" ", "-");
    let unique = anchor;
    for (let times = 1; anchors.has(unique); times++) unique = `${anchor}-${times}`;
    anchors.add(unique);
  }
  return anchors;
}
