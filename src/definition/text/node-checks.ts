/** What can be said of any text before its meaning: keys that stand twice, numbers that are not what they seem, size. */
import { isMap, isScalar, isSeq, type Node, type Scalar } from "yaml";
import type { DiagnosticCode } from "./diagnostics.ts";
import { LIMITS } from "../schema/limits.ts";
import type { Finding } from "./finding.ts";
import { clip } from "./read-text.ts";

type Path = readonly PropertyKey[];

/** Keys that stand twice in one map. */
export function findDuplicateKeys(root: Node | null): readonly Finding[] {
  const findings: Finding[] = [];
  forEachNode(root, (node, path) => {
    if (!isMap(node) || findings.length > LIMITS.diagnostics) return;
    const seen = new Set<string>();
    for (const { key } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      if (seen.has(name)) {
        const message = `the key "${clip(name)}" stands in this map already`;
        findings.push({ code: "duplicate-key", message, range: rangeOf(key), path: [...path, name] });
      }
      seen.add(name);
    }
  });
  return findings;
}

/** Numbers that come out in other characters: `3.10` is 3.1, and long ones lose their last digits. */
export function findInexactNumbers(root: Node | null): readonly Finding[] {
  const findings: Finding[] = [];
  forEachNode(root, (node, path) => {
    if (findings.length > LIMITS.diagnostics || !isScalar(node)) return;
    const { value, source } = node;
    if (typeof value !== "number" || source === undefined) return;
    // Only writers of numbers write a negative zero.
    if (source === String(value) || Object.is(value, -0)) return;
    const message = `this is the number ${value}, not the text ${clip(source)}`;
    const hint = "put it in quotes to keep it as it is";
    findings.push({ code: "inexact-number", message, range: rangeOf(node), path: [...path], hint });
  });
  return findings;
}

/** Whether a value, with every use of an anchor written out, is deeper or larger than a definition may be. */
export function measure(value: unknown): { readonly code: DiagnosticCode; readonly message: string } | undefined {
  let count = 0;
  let deepest = 0;
  const walk = (item: unknown, depth: number): void => {
    deepest = Math.max(deepest, depth);
    // An anchor may hold a use of itself.
    if (++count > LIMITS.values || deepest > LIMITS.depth || typeof item !== "object" || item === null) return;
    for (const child of Object.values(item)) walk(child, depth + 1);
  };
  walk(value, 0);
  if (deepest > LIMITS.depth) {
    return { code: "depth-limit", message: `maps and lists may be nested ${LIMITS.depth} deep; anchors nest deeper` };
  }
  if (count > LIMITS.values) {
    return { code: "size-limit", message: `a definition may have ${LIMITS.values} values; this one has more` };
  }
  return undefined;
}

/** Depth first, in the order of the text; uses of anchors are not followed. The path changes after each visit. */
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
