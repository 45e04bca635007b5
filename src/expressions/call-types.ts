/** The types of function calls, and checks of their arguments. */
import { data } from "@actions/expressions";
import { type FunctionCall, Literal } from "@actions/expressions/ast";
import { checkEquality, type Operand } from "./comparison-types.ts";
import { readPattern } from "./format-pattern.ts";
import { functionNamed } from "./functions.ts";
import { ungroup } from "./print.ts";
import { quote, type Report } from "./type-problem.ts";
import { ANY, BOOLEAN, isComposite, membersOf, nameOf, STRING, type ValueType } from "./types.ts";

/** The type of the result of a call; `any` for a function that does not exist. */
export function callType(node: FunctionCall, types: readonly ValueType[], report: Report): ValueType {
  const name = functionNamed(node.functionName.lexeme);
  const args = node.args.map((arg, index): Operand => ({ node: arg, type: types[index]! }));
  const [first, second] = args as [Operand, Operand];
  switch (name) {
    case undefined:
      return ANY;
    case "contains":
      checkContains(first, second, report);
      return BOOLEAN;
    case "startsWith":
    case "endsWith":
      for (const arg of args) requireText(name, arg, report);
      return BOOLEAN;
    case "format":
      for (const arg of args) requireText(name, arg, report);
      checkPattern(first, args.slice(1), report);
      return STRING;
    case "join":
      checkJoin(first, args.slice(1), report);
      return STRING;
    case "toJSON":
      return STRING;
    case "fromJSON":
      checkJson(first, report);
      return ANY;
    default:
      return BOOLEAN;
  }
}

function checkContains(within: Operand, sought: Operand, report: Report): void {
  const members = membersOf(within.type);
  if (members.every(({ kind }) => kind === "object")) {
    const message = `\`contains\` looks into a text or a list; ${quote(within.node)} is an object`;
    report(within.node, "type-mismatch", message, "`.*` gives the list of its values");
    return;
  }
  requireText("contains", sought, report);
  if (within.type.kind === "array" && !membersOf(sought.type).every(isComposite))
    checkEquality({ node: within.node, type: within.type.items }, sought, report);
}

function checkJoin(list: Operand, separator: readonly Operand[], report: Report): void {
  for (const one of separator) requireText("join", one, report);
  const { type, node } = list;
  if (type.kind === "object") {
    report(
      node,
      "type-mismatch",
      `\`join\` takes a list; ${quote(node)} is an object`,
      "`.*` gives the list of its values",
    );
  } else if (type.kind === "array" && membersOf(type.items).every(isComposite)) {
    const message = `\`join\` joins texts; each item of ${quote(node)} is ${nameOf(type.items)}`;
    report(node, "type-mismatch", message, `write \`toJSON(...)\` instead of \`join(...)\``);
  }
}

function checkJson({ node, type }: Operand, report: Report): void {
  if (!membersOf(type).some(({ kind }) => kind === "any" || kind === "string")) {
    report(node, "type-mismatch", `\`fromJSON\` reads a text; ${quote(node)} is ${nameOf(type)}`);
    return;
  }
  const text = literalText(node);
  if (text === null) return;
  try {
    JSON.parse(text);
  } catch {
    report(node, "invalid-call", `${quote(node)} is not JSON`, "JSON needs double quotes around texts and names");
  }
}

function checkPattern({ node }: Operand, values: readonly Operand[], report: Report): void {
  const pattern = literalText(node);
  if (pattern === null) return;
  const parts = readPattern(pattern);
  if (parts === null) {
    report(node, "invalid-call", "this pattern has a single brace", "write `{{` or `}}` for a brace");
    return;
  }
  const missing = parts.find((part) => typeof part === "number" && part >= values.length);
  if (missing !== undefined) {
    const given = values.length === 1 ? "1 value is given" : `${values.length} values are given`;
    report(node, "invalid-call", `{${missing}} in this pattern has no value: ${given}`, "the first value is {0}");
  }
  values.forEach((value, index) => {
    if (!parts.includes(index)) report(value.node, "invalid-call", `the pattern has no {${index}} for this value`);
  });
}

function requireText(name: string, { node, type }: Operand, report: Report): void {
  if (!membersOf(type).every(isComposite)) return;
  report(
    node,
    "type-mismatch",
    `\`${name}\` takes texts; ${quote(node)} is ${nameOf(type)}`,
    "make a text of it with `toJSON(...)`",
  );
}

function literalText(arg: Operand["node"]): string | null {
  const node = ungroup(arg);
  return node instanceof Literal && node.literal.kind === data.Kind.String ? node.literal.value : null;
}
