/**
 * docs/definition.md. Two parts of the page follow from the code, and `npm run generate` writes them: the keys of every
 * kind of map, and the contexts that expressions can read in each place. This file also reads the page's examples for
 * the test that runs them.
 */
import { parse } from "yaml";
import { CONTEXTS, EXPRESSION_PLACES } from "../../src/definition/text/expression-places.ts";
import { renderSpec } from "../../src/definition/edit/render.ts";
import { KEYED_MAPS, type KeyedMap, typeOf } from "./keyed-maps.ts";
import { renderTable } from "./markdown-table.ts";

export interface Example {
  /** Line of the page, counted from 1. */
  readonly line: number;
  /** A whole definition. */
  readonly text: string;
}

const KEYS = /(<!-- keys: (.+?) -->\n).*?(<!-- end -->)/gs;
const PLACES = /(<!-- places -->\n).*?(<!-- end -->)/s;
const EXAMPLE = /^```yaml(?: (?<part>pipeline|job|step))?\n(?<text>.*?\n)```$/gms;
const STEP = { uses: "shell", args: { script: "make" } };

/** The page with its tables made from the code. */
export function deriveDefinitionPage(page: string): string {
  return page
    .replaceAll(KEYS, (_, begin: string, title: string, end: string) => {
      const map = KEYED_MAPS.get(title);
      if (map === undefined) throw new Error(`the language has no map that is called "${title}"`);
      return `${begin}\n${renderKeys(map)}\n\n${end}`;
    })
    .replace(PLACES, (_, begin: string, end: string) => `${begin}\n${renderPlaces()}\n\n${end}`);
}

/** Titles of the maps for which the page has a table. */
export function titlesIn(page: string): readonly string[] {
  return [...page.matchAll(KEYS)].map(([, , title]) => title!);
}

/**
 * All examples. An example that shows keys of a pipeline, a job or a step is put into the smallest whole definition.
 */
export function examplesIn(page: string): readonly Example[] {
  return [...page.matchAll(EXAMPLE)].map(({ index, groups }) => ({
    line: page.slice(0, index).split("\n").length,
    text: complete(groups!["text"]!, groups!["part"]),
  }));
}

function complete(text: string, part: string | undefined): string {
  if (part === undefined) return text;
  const keys = parse(text) as object;
  const step = part === "step" ? { ...STEP, ...keys } : STEP;
  const job = { name: "example", steps: [step], ...(part === "job" ? keys : {}) };
  return renderSpec({ ...(part === "pipeline" ? keys : {}), jobs: [job] }, "yaml");
}

/** A row for each key. A block that has two names is listed under its lower-case name only. */
function renderKeys({ schema, definitions }: KeyedMap): string {
  const rows = Object.entries(schema.properties ?? {})
    .filter(([key]) => !/^[A-Z]/.test(key))
    .map(([key, value]) => {
      if (typeof value === "boolean") throw new Error(`\`${key}\` has no type`);
      const { type, meaning } = typeOf(value, definitions);
      const isRequired = schema.required?.includes(key) === true;
      return [`\`${key}\``, `${type}${isRequired ? ", required" : ""}`, meaning];
    });
  return renderTable([["Key", "Value", "Meaning"], ...rows]);
}

function renderPlaces(): string {
  const rows = Object.values(EXPRESSION_PLACES).map(({ words, contexts }) => [
    words,
    ...CONTEXTS.map((context) => ((contexts as readonly string[]).includes(context) ? "yes" : "")),
  ]);
  return renderTable([["In", ...CONTEXTS.map((context) => `\`${context}\``)], ...rows]);
}
