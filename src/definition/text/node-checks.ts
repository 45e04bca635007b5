/** Checks of any YAML text, whatever its meaning: duplicate keys, numbers that lose characters, and size. */
import { isMap, isScalar, isSeq, type Node, type Scalar } from "yaml";
import type { DiagnosticCode } from "./diagnostics.ts";
import { LIMITS } from "../schema/limits.ts";
import type { Finding } from "./finding.ts";
import { clip } from "./read-text.ts";

type Path = readonly PropertyKey[];

const RESERVED_KEY = "__proto__";
const RENAME = "use another name";

/** Keys that one map has twice. */
export function findDuplicateKeys(root: Node | null): readonly Finding[] {
  const findings: Finding[] = [];
  forEachNode(root, (node, path) => {
    if (!isMap(node) || findings.length > LIMITS.diagnostics) return;
    const seen = new Set<string>();
    for (const { key } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      if (seen.has(name)) {
        const message = `this map already has the key "${clip(name)}"`;
        findings.push({ code: "duplicate-key", message, range: rangeOf(key), path: [...path, name] });
      }
      seen.add(name);
    }
  });
  return findings;
}

/** Keys that the values of a text lose without a word: `__proto__` is the name of an object's prototype. */
export function findReservedKeys(root: Node | null): readonly Finding[] {
  const findings: Finding[] = [];
  forEachNode(root, (node, path) => {
    if (!isMap(node) || findings.length > LIMITS.diagnostics) return;
    for (const { key } of node.items) {
      if (!isScalar(key) || key.value !== RESERVED_KEY) continue;
      const message = `no key can be "${RESERVED_KEY}"`;
      findings.push({
        code: "invalid-value",
        message,
        range: rangeOf(key),
        path: [...path, RESERVED_KEY],
        hint: RENAME,
      });
    }
  });
  return findings;
}

/** Numbers whose value is written in other characters than the text: `3.10` is 3.1, and a long number loses its last digits. */
export function findInexactNumbers(root: Node | null): readonly Finding[] {
  const findings: Finding[] = [];
  forEachNode(root, (node, path) => {
    if (findings.length > LIMITS.diagnostics || !isScalar(node)) return;
    const { value, source } = node;
    if (typeof value !== "number" || source === undefined) return;
    // `String(-0)` is "0", but `-0` in a text always means the number.
    if (source === String(value) || Object.is(value, -0)) return;
    const message = `this is the number ${value}, not the text ${clip(source)}`;
    const hint = "put it in quotes to keep all of its characters";
    findings.push({ code: "inexact-number", message, range: rangeOf(node), path: [...path], hint });
  });
  return findings;
}

/** Why a value, with every use of an anchor written out, is nested deeper or larger than a definition may be; else undefined. */
export function measure(value: unknown): { readonly code: DiagnosticCode; readonly message: string } | undefined {
  let count = 0;
  let deepest = 0;
  const walk = (item: unknown, depth: number): void => {
    deepest = Math.max(deepest, depth);
    // The value of an anchor can contain a use of the same anchor, so the walk ends at the bounds.
    if (++count > LIMITS.values || deepest > LIMITS.depth || typeof item !== "object" || item === null) return;
    for (const child of Object.values(item)) walk(child, depth + 1);
  };
  walk(value, 0);
  if (deepest > LIMITS.depth) {
    const message = `maps and lists may be nested ${LIMITS.depth} deep; with the anchors written out, these are deeper`;
    return { code: "depth-limit", message };
  }
  if (count > LIMITS.values) {
    return { code: "size-limit", message: `a definition may have ${LIMITS.values} values; this one has more` };
  }
  return undefined;
}

/**
 * Visits every node depth first, in the order of the text; uses of anchors are not followed. All visits share one array as
 * their path: a visitor that keeps the path copies it.
 */
function forEachNode(node: unknown, visit: (node: unknown, path: Path) => void, path: PropertyKey[] = []): void {
  visit(node, path);
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      path.push(index);
      forEachNode(item, visit, path);
      path.pop();
    }
  } else if (isMap(node)) {
    for (const { key, value } of node.items) {
      path.push(isScalar(key) ? String(key.value) : "");
      forEachNode(value, visit, path);
      path.pop();
    }
  }
}

function rangeOf({ range }: Scalar): readonly [number, number] {
  return [range?.[0] ?? 0, range?.[1] ?? 0];
}
