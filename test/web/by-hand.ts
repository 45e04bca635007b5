/** What readers do on the pages of an installation that has something on each: with the mouse, single keys, a narrow page. */
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { seriousProblems } from "../support/accessibility.ts";
import { until } from "../support/until.ts";
import { type Showcase, shell } from "./showcase.ts";

const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1280, height: 800 };

/** Stops two runs of a list at once, and starts both again. */
export async function severalAtOnce(showcase: Showcase, page: Page): Promise<void> {
  const waits = { name: "train", agentSelector: { matchLabels: { gpu: "yes" } }, steps: [shell("train", "echo")] };
  const pipelineId = await showcase.installation.pipeline("several", [waits]);
  const first = [await showcase.trigger(pipelineId), await showcase.trigger(pipelineId)];
  await page.goto(`/runs?pipelineId=${pipelineId}`);
  const rows = page.locator("tbody tr");
  await rows.nth(1).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  await rows.nth(1).getByRole("checkbox").check();
  const together = page.getByRole("region", { name: "2 runs selected" });
  expect(await together.getByRole("button", { name: "Run again (0)" }).isDisabled()).to.equal(true);
  await together.getByRole("button", { name: "Stop (2)" }).click();
  const question = page.getByRole("dialog", { name: "Stop 2 runs?" });
  const text = (await question.getByText("Running steps are asked").boundingBox())!;
  await page.mouse.move(text.x + 20, text.y + 5);
  await page.mouse.down();
  await page.mouse.move(3, 3);
  await page.mouse.up();
  expect(await question.isVisible(), "open after a selection that ended outside").to.equal(true);
  await question.getByRole("button", { name: "Cancel" }).click();
  await together.getByRole("button", { name: "Stop (2)" }).click();
  await question.getByRole("button", { name: "Stop" }).click();
  await page.getByText("2 runs stopped").waitFor();
  await page.locator("tbody").getByText("Cancelled", { exact: true }).nth(1).waitFor();
  for (const row of await rows.all()) await row.getByRole("checkbox").check();
  await together.getByRole("button", { name: "Run again (2)" }).click();
  await page.getByText("2 runs started again").waitFor();
  await rows.nth(3).waitFor();
  const { list } = await showcase.call("GET", `/runs?pipelineId=${pipelineId}`);
  const again = list.filter(({ retryOf }: { readonly retryOf: string | null }) => retryOf !== null);
  expect(again.map(({ retryOf }: { readonly retryOf: string }) => retryOf)).to.have.members(first);
  for (const { runId } of again) await showcase.call("POST", `/pipelines/${pipelineId}/runs/${runId}/stop`, {});
}

/** Drags the place of a replay with the mouse: to the middle, to the begin, and back to the end. */
export async function dragReplay(showcase: Showcase, page: Page): Promise<void> {
  await page.goto(`/runs/${showcase.runs.success}?view=timeline`);
  const slider = page.getByRole("slider", { name: "Place in the run" });
  await slider.waitFor();
  const box = (await slider.boundingBox())!;
  const all = Number(await slider.inputValue());
  const graph = page.getByRole("region", { name: "Jobs of the run" });
  const ended = () => graph.locator("[data-status=success]").count();
  const atEnd = await ended();
  const to = async (share: number) => page.mouse.move(box.x + 2 + (box.width - 4) * share, box.y + box.height / 2);
  await to(1);
  await page.mouse.down();
  const seen: number[] = [];
  for (const share of [0.75, 0.5, 0]) {
    await to(share);
    seen.push(Number(await slider.inputValue()));
  }
  expect(seen[1]).to.be.within(all * 0.4, all * 0.6);
  expect(seen[2]).to.equal(0);
  await page.getByText(`Event 0 of ${all}`).waitFor();
  expect(await ended(), "jobs that have succeeded before the run began").to.equal(0);
  await to(0.5);
  // Each event tells its cause.
  await page
    .locator("p")
    .getByText(/^because /)
    .waitFor();
  await to(1);
  await page.mouse.up();
  expect(Number(await slider.inputValue())).to.equal(all);
  expect(await ended())
    .to.equal(atEnd)
    .and.to.be.above(3);
}

/** Nothing moves for a reader who does not want it, and something does for the others. */
export async function reducedMotion(showcase: Showcase, page: Page): Promise<void> {
  await page.goto(`/runs/${showcase.runs.waiting}`);
  await page.locator("header [data-status=running]").first().waitFor();
  const moving = () =>
    page.evaluate(
      "document.getAnimations().filter(({ effect }) => effect.getComputedTiming().activeDuration > 100).length",
    );
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await until("the mark of a running run turns", async () => Number(await moving()) > 0);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await until("nothing moves", async () => Number(await moving()) === 0);
}

/** The table of a run and a log on a page that is 360 px wide: all is reached without scrolling to the side. */
export async function narrowRun(showcase: Showcase, page: Page): Promise<void> {
  const { failed } = showcase.runs;
  await page.setViewportSize(NARROW);
  await page.goto(`/runs/${failed}?view=table`);
  const table = page.getByRole("table", { name: "Table" });
  const step = table.getByRole("link", { name: "test / units" });
  await step.waitFor();
  await expectToFit(page, table.getByRole("link").or(table.getByRole("button")));
  expect(await table.getByRole("columnheader").filter({ visible: true }).allInnerTexts()).to.deep.equal([
    "Job",
    "Status",
    "Ran",
  ]);
  // The jobs of a matrix differ at the ends of their names.
  const names = table
    .getByRole("button")
    .locator("span:nth-child(2)")
    .filter({ hasText: /^image (amd|arm)64, / });
  const cut = await names.evaluateAll((all) => all.map((one) => one.scrollHeight > one.clientHeight + 1));
  expect(cut).to.deep.equal([false, false, false, false]);
  expect(await seriousProblems(page)).to.deep.equal([]);
  await step.click();
  const failure = page.locator("[data-line]").getByText("Error: expected 12");
  await failure.waitFor();
  await expectToFit(page, page.getByRole("toolbar", { name: "Log" }).getByRole("button"));
  await page.goto(`/runs/${failed}?view=artifacts`);
  const chosen = page.getByRole("navigation", { name: "Views of the run" }).getByRole("link", { name: "Artifacts" });
  await until("the chosen view is in sight", async () => {
    const box = (await chosen.boundingBox())!;
    return box.x + box.width <= NARROW.width;
  });
  await page.goto(`/runs/${failed}/steps/${showcase.stepRunId}`);
  await failure.waitFor();
  await expectToFit(page, page.getByRole("toolbar", { name: "Log" }).getByRole("button"));
  // The lines have most of the page, and each is seen in full once it is wrapped.
  const log = (await page.getByRole("region", { name: /lines/ }).boundingBox())!;
  expect(log.height).to.be.above(NARROW.height / 3);
  await page.getByRole("button", { name: "Wrap" }).click();
  await until("no line is wider than the page", () =>
    page.evaluate("[...document.querySelectorAll('[data-line]')].every((line) => line.scrollWidth <= innerWidth)"),
  );
  expect(await seriousProblems(page)).to.deep.equal([]);
  await page.setViewportSize(WIDE);
}

/** The page does not scroll to the side, and these stand inside it. */
async function expectToFit(page: Page, elements: Locator): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth"), "width of the page").to.be.at.most(NARROW.width);
  const boxes = await Promise.all((await elements.filter({ visible: true }).all()).map((one) => one.boundingBox()));
  expect(boxes.length).to.be.above(2);
  for (const box of boxes) {
    expect(box!.x).to.be.at.least(0);
    expect(box!.x + box!.width).to.be.at.most(NARROW.width);
    expect(box!.height, "height of what a finger meets").to.be.at.least(20);
  }
}

/** Single keys of a run, of its log and of lists; they can be switched off. */
export async function singleKeys(showcase: Showcase, page: Page): Promise<void> {
  const { keyboard } = page;
  const { waiting } = showcase.runs;
  const pressed = () => page.locator("button[aria-pressed=true]").evaluateAll((all) => all.map((one) => one.ariaLabel));
  const at = (path: string) => page.waitForURL(({ pathname }) => pathname === path);
  await showcase.installation.pipeline("not listed", [{ name: "job", steps: [shell("run", "echo")] }]);
  await page.goto("/pipelines");
  await page.locator("tbody [data-row-link]").nth(1).waitFor();
  await keyboard.press("/");
  await page.locator("main [data-filter]:focus").fill("shop");
  await keyboard.press("Escape");
  await until("the shop alone is listed", async () => (await page.locator("tbody tr").count()) === 1);
  await page.locator("main").click({ position: { x: 2, y: 2 } });
  await keyboard.press("j");
  await keyboard.press("Enter");
  await at(`/pipelines/${showcase.pipelineId}`);
  for (const [keys, path] of [
    ["gh", "/"],
    ["ga", "/approvals"],
    ["gn", "/agents"],
    ["gp", "/pipelines"],
    ["gr", "/runs"],
  ] as const) {
    for (const key of keys) await keyboard.press(key);
    await at(path);
  }

  await page.goto(`/runs/${waiting}`);
  await page.locator("header [data-status=running]").first().waitFor();
  await keyboard.press("w");
  await page.getByRole("region", { name: "Why nothing runs" }).getByText("Decide below.").waitFor();
  await page.goto(`/runs/${showcase.runs.failed}`);
  await page.locator("header").getByText("Failed", { exact: true }).waitFor();
  await keyboard.press("f");
  await page.getByRole("toolbar", { name: "Log" }).waitFor();
  await keyboard.press("z");
  expect(await pressed()).to.include("Wrap");
  await keyboard.press("Escape");
  await page.getByRole("toolbar", { name: "Log" }).waitFor({ state: "detached" });

  await page.goto(`/runs/${showcase.runs.failed}/steps/${showcase.stepRunId}`);
  await page.locator("[data-line]").first().waitFor();
  await keyboard.press("Control+f");
  await keyboard.type("of the cart");
  await page.getByText("1 of 30", { exact: true }).waitFor();
  // `n` is a letter of the search until the field is left.
  await page.getByRole("region", { name: /lines/ }).focus();
  await keyboard.press("n");
  await page.getByText("2 of 30", { exact: true }).waitFor();
  await keyboard.press("N");
  await page.getByText("1 of 30", { exact: true }).waitFor();
  for (const line of [7, 9]) {
    await page.locator(`[data-line='${line}'] a`).click();
    await keyboard.press("y");
    await page.getByText("The link is copied.").first().waitFor();
    await keyboard.press("Control+f");
    await keyboard.press("Control+v");
    const link = `${showcase.origin}/runs/${showcase.runs.failed}/steps/${showcase.stepRunId}#L${line}`;
    await until("the link is pasted", async () => (await page.getByLabel("Search the log").inputValue()) === link);
    await keyboard.press("Escape");
    // As on a page without TLS.
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })");
  }
  await keyboard.press("[");
  await page.waitForURL((url) => !url.pathname.endsWith(showcase.stepRunId));
  await page.locator("[data-line]").getByText("src/file-1.ts is fine").waitFor();
  await keyboard.press("]");
  await at(`/runs/${showcase.runs.failed}/steps/${showcase.stepRunId}`);

  await page.locator("[data-line]").getByText("Error: expected 12").waitFor();
  await keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  for (const text of ["Next match", "Follow", "Go to agents"]) await help.getByText(text, { exact: true }).waitFor();
  await help.getByRole("button", { name: "Turn single keys off" }).click();
  await keyboard.press("Escape");
  await keyboard.press("g");
  await keyboard.press("r");
  await keyboard.press("Control+k");
  await page.locator("[role=combobox]:focus").waitFor();
  await keyboard.press("Escape");
  expect(new URL(page.url()).pathname).to.include("/steps/");
  await page.getByRole("button", { name: "Show the keys" }).click();
  await help.getByRole("button", { name: "Turn single keys on" }).click();
  await keyboard.press("Escape");
}

/** Without a network a page says so and goes on by itself; a part that is gone or fails leaves the rest usable. */
export async function offlineAndBack(showcase: Showcase, page: Page): Promise<void> {
  const context = page.context();
  await page.goto("/pipelines");
  await showcase.settled(page);
  await context.setOffline(true);
  const place = (name: string) => page.getByRole("navigation").getByRole("link", { name });
  // What this page needs has not been loaded yet, and neither has what it shows.
  await place("Agents").click();
  // Each part of the page that asks says so by itself, some of them later.
  await page.getByRole("alert").getByText("The server does not answer").first().waitFor();
  expect(await seriousProblems(page)).to.deep.equal([]);
  await context.setOffline(false);
  await page.getByRole("row").filter({ hasText: "build-1" }).waitFor();

  const crash = page.getByRole("alert").getByText("This part of the page has failed");
  await page.route("**/assets/plugins-page-*", (route) => route.fulfill({ status: 404 }));
  await place("Plugins").click();
  await crash.waitFor();
  await page.unroute("**/assets/plugins-page-*");
  await page.getByRole("button", { name: "Load the page again" }).click();
  await page.getByRole("row").filter({ hasText: "team/greet" }).waitFor();

  await page.route("**/api/v1/cluster", (route) => route.fulfill({ json: { code: 200, detail: {} } }));
  await place("Cluster").click();
  await crash.waitFor();
  // Each part of the page that fails has been told, so that the console has it.
  expect(showcase.problems.splice(0)).to.include("Cannot read properties of undefined (reading 'map')");
  await page.unroute("**/api/v1/cluster");
  await place("Agents").click();
  await page.getByRole("row").filter({ hasText: "build-1" }).waitFor();
}
