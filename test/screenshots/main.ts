/**
 * `npm run screenshots`: makes a picture of every page in both themes for docs/images, from an installation that the command
 * starts and fills. `-- --folder FOLDER [--width PIXELS] [--whole]` makes PNG files to look at elsewhere. `--only NAME,NAME`
 * makes these alone.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { startMailServer } from "../support/mail-server.ts";
import { Showcase } from "../web/showcase.ts";
import { type Content, fillMore } from "./content.ts";
import { GROUPS, listOf } from "./pictures.ts";

const { values } = parseArgs({
  options: {
    folder: { type: "string" },
    width: { type: "string", default: "1280" },
    whole: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
/** What README.md and docs/web.md show; the others are listed in docs/images/README.md. */
const AS_PNG = new Set(["run-failed-light", "compare-light", "run-waterfall-dark"]);
const THEMES = ["light", "dark"] as const;
/** Of WebP files: text stays sharp, and a picture takes about 20 kB. */
const QUALITY = 72;
/** Answers that come after the first are shown within this time. */
const SETTLED_MS = 500;
/** For a machine that does much else. */
const PATIENCE_MS = 90_000;
const NARROW = { width: 360, height: 740 };
const USER_AGENT =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

const docs = fileURLToPath(new URL("../../docs/images", import.meta.url));
const folder = values.folder ?? docs;
mkdirSync(folder, { recursive: true });
const mail = await startMailServer();
const showcase = await Showcase.start({
  MILLRACE_SMTP_URL: `smtp://${mail.host}:${mail.port}`,
  MILLRACE_MAIL_FROM: "millrace <ci@shop.example>",
});
let content: Content | undefined;
try {
  await showcase.fill();
  content = await fillMore(showcase);
  await takeAll(content);
  if (values.folder === undefined) writeFileSync(join(docs, "README.md"), listOf(docs));
  if (showcase.problems.length > 0) throw new Error(showcase.problems.join("\n"));
} finally {
  await content?.end();
  await showcase.end();
  await mail.close();
}

async function takeAll(shown: Content): Promise<void> {
  const viewport = { width: Number(values.width), height: 800 };
  const page = await showcase.page("olga", { viewport, userAgent: USER_AGENT });
  const context = await showcase.browser.newContext({ baseURL: showcase.origin, viewport });
  const guest = await context.newPage();
  const phone = await (
    await showcase.browser.newContext({
      baseURL: showcase.origin,
      viewport: NARROW,
      storageState: await page.context().storageState(),
      isMobile: true,
      hasTouch: true,
    })
  ).newPage();
  for (const one of [page, guest, phone]) one.setDefaultTimeout(PATIENCE_MS);
  const wanted = values.only?.split(",");
  for (const { name, address, before, isGuest = false, isNarrow = false } of GROUPS.flatMap((one) => one.pictures)) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    const at = isGuest ? guest : isNarrow ? phone : page;
    for (const colorScheme of THEMES) {
      await at.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await at.goto(address(shown));
      await showcase.settled(at);
      await before?.(at);
      await at.waitForTimeout(SETTLED_MS);
      await take(at, `${name}-${colorScheme}`);
    }
  }
}

async function take(page: Page, name: string): Promise<void> {
  if (values.folder !== undefined || AS_PNG.has(name)) {
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: values.whole });
    return;
  }
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, "base64"));
  await session.detach();
}
