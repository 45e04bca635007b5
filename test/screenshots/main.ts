/**
 * `npm run screenshots`: makes a picture of every page in both themes for docs/images, from an installation that the command
 * starts and fills. `-- --folder FOLDER [--width PIXELS] [--whole] [--only NAME,NAME]` makes PNG files to look at elsewhere.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { Showcase } from "../web/showcase.ts";
import { type Content, fillMore } from "./content.ts";

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

const docs = fileURLToPath(new URL("../../docs/images", import.meta.url));
const folder = values.folder ?? docs;
mkdirSync(folder, { recursive: true });
const showcase = await Showcase.start();
let content: Content | undefined;
try {
  await showcase.fill();
  content = await fillMore(showcase);
  const viewport = { width: Number(values.width), height: 800 };
  const page = await showcase.page("olga", { viewport });
  page.setDefaultTimeout(PATIENCE_MS);
  const wanted = values.only?.split(",");
  for (const [name, address, before] of pagesOf(showcase, content)) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto(address);
      await showcase.settled(page);
      await before?.(page);
      await page.waitForTimeout(SETTLED_MS);
      await take(page, `${name}-${colorScheme}`);
    }
  }
  const context = await showcase.browser.newContext({ baseURL: showcase.origin, viewport });
  const login = await context.newPage();
  await login.goto("/login");
  for (const colorScheme of THEMES) {
    await login.emulateMedia({ colorScheme });
    await take(login, `login-${colorScheme}`);
  }
  if (values.folder === undefined) writeFileSync(join(docs, "README.md"), listOf(readdirSync(docs)));
  if (showcase.problems.length > 0) throw new Error(showcase.problems.join("\n"));
} finally {
  await content?.end();
  await showcase.end();
}

type Picture = readonly [name: string, address: string, before?: (page: Page) => Promise<unknown>];

function pagesOf({ pages }: Showcase, { pipelines, runs, failedStep }: Content): readonly Picture[] {
  const { failed, success, approval, waiting, running } = runs;
  const own: readonly Picture[] = [
    ["pipeline", `/pipelines/${pipelines.storefront}`],
    ["pipeline-secrets", `/pipelines/${pipelines.storefront}/secrets`],
    ["pipeline-settings", `/pipelines/${pipelines.payments}/settings`],
    [
      "edit",
      `/pipelines/${pipelines.payments}/edit`,
      (page) =>
        page
          .getByText(/^(No problem|\d+ errors?)/)
          .first()
          .waitFor(),
    ],
    ["trigger", `/pipelines/${pipelines.storefront}/trigger`],
    ["run", `/runs/${approval}`],
    ["run-failed", `/runs/${failed}`],
    ["run-step", `/runs/${failed}?step=${failedStep}`, (page) => page.locator("[data-line]").first().waitFor()],
    [
      "run-waiting",
      `/runs/${waiting}`,
      async (page) => {
        await page.getByRole("button", { name: "Why?" }).click();
        await page.getByText("Nearest agent").waitFor();
      },
    ],
    ["run-table", `/runs/${failed}?view=table`],
    ["run-waterfall", `/runs/${success}?view=waterfall`],
    ["run-timeline", `/runs/${success}?view=timeline`],
    ["run-tests", `/runs/${failed}?view=tests`],
    ["run-artifacts", `/runs/${success}?view=artifacts`],
    ["log", `/runs/${failed}/steps/${failedStep}`],
    ["log-live", `/runs/${running}`, openFirstLog],
    ["compare", `/runs/${failed}/compare/${success}`],
    ["palette", "/runs", (page) => page.keyboard.press("Control+k")],
    ["keys", `/runs/${success}`, (page) => page.keyboard.press("?")],
  ];
  const ownNames = new Set(own.map(([name]) => name));
  return [...own, ...pages.call(showcase).filter(([name]) => !ownNames.has(name))];
}

async function openFirstLog(page: Page): Promise<void> {
  await page.locator("main [data-status=running]").first().waitFor();
  await page.keyboard.press("2");
  await page.getByRole("table", { name: "Table" }).locator("[data-row-link]").first().click();
  await page.locator("[data-line]").first().waitFor();
}

async function take(page: Page, name: string): Promise<void> {
  if (values.folder !== undefined || AS_PNG.has(name)) {
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: values.whole });
  }
  if (values.folder !== undefined || AS_PNG.has(name)) return;
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, "base64"));
  await session.detach();
}

/** The pictures of the folder, so that a run with `--only` loses none from the list. */
function listOf(files: readonly string[]): string {
  const rows = files
    .filter((file) => /-light\.(png|webp)$/.test(file))
    .toSorted()
    .map((light) => {
      const name = light.slice(0, light.lastIndexOf("-light"));
      const dark = files.find((file) => file.startsWith(`${name}-dark.`))!;
      return `## ${name}\n\n![${name}, light](${light})\n\n![${name}, dark](${dark})\n`;
    });
  return `# Pages in both themes\n\n\`npm run screenshots\` makes these pictures.\n\n${rows.join("\n")}`;
}
