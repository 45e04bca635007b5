/**
 * The parsed expressions of a definition. Each text is parsed once, however often the definition contains it, and however often
 * it is checked and planned.
 */
import { type Condition, parseCondition } from "../../expressions/condition.ts";
import { parseTemplate, type Template } from "../../expressions/template.ts";
import { CONTEXTS } from "./expression-places.ts";

export class ParsedTexts {
  readonly #templates = new Map<string, Template>();
  readonly #conditions = new Map<string, Condition>();

  template(text: string): Template {
    let template = this.#templates.get(text);
    if (template === undefined) this.#templates.set(text, (template = parseTemplate(text, CONTEXTS)));
    return template;
  }

  /** `when` is a condition as written; the empty text stands for no condition. */
  condition(when: string): Condition {
    let condition = this.#conditions.get(when);
    if (condition === undefined) this.#conditions.set(when, (condition = parseCondition(when, CONTEXTS)));
    return condition;
  }
}
