/**
 * `npm run screenshots`: makes pictures of every page in both themes, from an installation that the command starts and
 * fills. `npm run screenshots -- [--folder FOLDER] [--only NAME,...] [--width PIXELS]`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Showcase } from "../web/showcase.ts";

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: fileURLToPath(new URL("../../docs/images", import.meta.url)) },
    only: { type: "string" },
    width: { type: "string", default: "1280" },
  },
});
const wanted = values.only?.split(",");
mkdirSync(values.folder, { recursive: true });
const showcase = await Showcase.start();
try {
  await showcase.fill();
  const page = await showcase.page("olga", { viewport: { width: Number(values.width), height: 800 } });
  for (const [name, address] of showcase.pages()) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto(address);
      await showcase.settled(page);
      // Answers that come after the first are shown within this time.
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(values.folder, `${name}-${colorScheme}.png`) });
    }
  }
  if (showcase.problems.length > 0) throw new Error(showcase.problems.join("\n"));
} finally {
  await showcase.end();
}
