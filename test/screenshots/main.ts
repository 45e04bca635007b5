/**
 * `npm run screenshots`: makes the pictures that the docs show, from an installation that the command starts and fills.
 * `npm run screenshots -- --folder FOLDER [--width PIXELS]` makes pictures of every page in both themes.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Showcase } from "../web/showcase.ts";

const { values } = parseArgs({ options: { folder: { type: "string" }, width: { type: "string", default: "1280" } } });
/** What docs/web.md shows. */
const SHOWN = ["run-failed-light", "compare-light", "run-waterfall-dark"];
const folder = values.folder ?? fileURLToPath(new URL("../../docs/images", import.meta.url));
mkdirSync(folder, { recursive: true });
const showcase = await Showcase.start();
try {
  await showcase.fill();
  const page = await showcase.page("olga", { viewport: { width: Number(values.width), height: 800 } });
  for (const [name, address] of showcase.pages()) {
    for (const colorScheme of ["light", "dark"] as const) {
      const picture = `${name}-${colorScheme}`;
      if (values.folder === undefined && !SHOWN.includes(picture)) continue;
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto(address);
      await showcase.settled(page);
      // Answers that come after the first are shown within this time.
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(folder, `${picture}.png`) });
    }
  }
  if (values.folder !== undefined) {
    const context = await showcase.browser.newContext({ baseURL: showcase.origin, viewport: page.viewportSize() });
    const login = await context.newPage();
    await login.goto("/login");
    for (const colorScheme of ["light", "dark"] as const) {
      await login.emulateMedia({ colorScheme });
      await login.screenshot({ path: join(folder, `login-${colorScheme}.png`) });
    }
  }
  if (showcase.problems.length > 0) throw new Error(showcase.problems.join("\n"));
} finally {
  await showcase.end();
}
