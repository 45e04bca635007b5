/** The expressions of a definition. A text is parsed once, however often it stands there, is checked and is planned. */
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

  /** Of a `when`; empty for none. */
  condition(when: string): Condition {
    let condition = this.#conditions.get(when);
    if (condition === undefined) this.#conditions.set(when, (condition = parseCondition(when, CONTEXTS)));
    return condition;
  }
}
