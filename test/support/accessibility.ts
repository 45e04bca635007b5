/** What axe finds on a page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const TRANSITIONS_ENDED = `new Promise(requestAnimationFrame).then(() =>
  Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)))`;

/** What axe calls serious or critical, as `rule: element`. `rules`: the only rules to apply. */
export async function seriousProblems(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // A colour in the middle of a transition is none that anyone reads.
  await page.evaluate(TRANSITIONS_ENDED);
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  return page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as {
      readonly axe: {
        run(options: object): Promise<{ violations: { impact: string; id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run({
      // Rules that passed need no list of elements.
      resultTypes: ["violations"],
      ...(only === undefined ? {} : { runOnly: { type: "rule", values: only } }),
    });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, rules);
}
