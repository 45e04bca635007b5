/** Random texts as people write them, and random changes of their values: for properties of the lossless editor. */
import fc from "fast-check";
import { Document, isCollection, isScalar, Scalar, visit } from "yaml";

const STYLES: readonly NonNullable<Scalar["type"]>[] = [
  Scalar.PLAIN,
  Scalar.QUOTE_SINGLE,
  Scalar.QUOTE_DOUBLE,
  Scalar.BLOCK_LITERAL,
  Scalar.BLOCK_FOLDED,
];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const word = fc.constantFrom("name", "id", "a", "b", "key with spaces", "on", "1", "#x", "", "- y", "ü");
const text = fc.oneof(
  fc.constantFrom(
    "on",
    "null",
    "~",
    "1",
    "0x10",
    "x: y",
    "a # b",
    "- a",
    "one\ntwo\n",
    "one\n\n two",
    "\n",
    " x",
    "é😀",
  ),
  fc.string({ maxLength: 6 }),
  fc.string({
    unit: fc.constantFrom("a", " ", "\n", "\t", "#", ":", "-", "'", '"', "\r", "\ufeff", "\0"),
    maxLength: 6,
  }),
);
const scalar: fc.Arbitrary<Json> = fc.oneof(text, fc.constantFrom(null, true, -0, 0, 1e21, 0.1, 2 ** 80), fc.integer());

/** JSON values in which lists of named maps are frequent. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.dictionary(word, tie("value"), { maxKeys: 3, noNullPrototype: true }), { maxLength: 3 }),
    fc.dictionary(word, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
export const record = fc.dictionary(word, json, { minKeys: 1, maxKeys: 4, noNullPrototype: true });

export type Choose = (below: number) => number;
/** Makes choices from a seed: the same seed makes the same choices. */
export const chooser: fc.Arbitrary<Choose> = fc.integer().map((seed) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % below;
  };
});

/** `value` in YAML; `choose` decides where the text has comments, blank lines, brackets, quotes and anchors. */
export function writeByHand(value: Json, choose: Choose): string {
  const document = new Document(shared(value, choose), { version: "1.2", schema: "core" });
  const comment = () => ` c${choose(100)}`;
  visit(document, {
    Node(key, node) {
      if (choose(6) === 0 && key !== "key") node.comment = comment();
      if (choose(6) === 0) node.commentBefore = [comment(), comment()].slice(choose(2)).join("\n");
      if (choose(6) === 0) node.spaceBefore = true;
      if (isCollection(node) && choose(5) === 0) node.flow = true;
      if (isScalar(node) && typeof node.value === "string") {
        node.type = STYLES[choose(STYLES.length)]!;
      }
    },
  });
  const body = document.toString({
    indent: 2 + choose(3),
    indentSeq: choose(2) === 0,
    lineWidth: choose(3) === 0 ? 20 : 0,
    flowCollectionPadding: choose(2) === 0,
  });
  const framed = choose(4) === 0 ? `# head\n---\n${body}...\n` : body;
  const ended = choose(4) === 0 ? framed.replace(/\n$/, "") : framed;
  const broken = choose(4) === 0 ? ended.replaceAll("\n", "\r\n") : ended;
  return choose(8) === 0 ? `\ufeff${broken}` : broken;
}

/** Makes one object of some parts that are equal, so that they are written as an anchor with aliases. */
function shared(value: Json, choose: Choose): Json {
  const parts: Json[] = [];
  const walk = (item: Json): Json => {
    if (typeof item !== "object" || item === null) return item;
    if (parts.length > 0 && choose(6) === 0) return parts[choose(parts.length)]!;
    const copy: Json = Array.isArray(item)
      ? item.map(walk)
      : Object.fromEntries(Object.entries(item).map(([key, child]) => [key, walk(child)]));
    parts.push(copy);
    return copy;
  };
  return walk(value);
}

/** A copy of `value` in which a few values, keys and items are changed, added, removed or moved. */
export function change(value: Json, fresh: readonly Json[], choose: Choose): Json {
  const copy = structuredClone(value);
  for (const [index, item] of fresh.entries()) {
    const collections: (Json[] | { [key: string]: Json })[] = [];
    const walk = (part: Json): void => {
      if (typeof part !== "object" || part === null) return;
      collections.push(part);
      for (const child of Object.values(part)) walk(child);
    };
    walk(copy);
    const place = collections[choose(collections.length)]!;
    if (Array.isArray(place)) {
      const at = choose(place.length + 1);
      const kind = choose(4);
      if (kind === 0) place.splice(at, 0, item);
      else if (kind === 1) place.splice(at, 1);
      else if (kind === 2) place.splice(at, 1, item);
      else place.push(...place.splice(at, 1));
    } else {
      const keys = Object.keys(place);
      const key = keys[choose(keys.length + 1)] ?? `new ${index}`;
      if (choose(3) === 0) delete place[key];
      else place[key] = item;
    }
  }
  return copy;
}

/** The paths to all scalars of a value. */
export function scalarPaths(value: Json, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => scalarPaths(item, [...path, index]));
  return Object.entries(value).flatMap(([key, item]) => scalarPaths(item, [...path, key]));
}
