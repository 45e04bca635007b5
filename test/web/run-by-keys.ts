/** One whole run by keyboard alone: login, editing, trigger, a failed test, and the repeat of the run. */
import { expect } from "chai";
import type { Page } from "playwright-core";
import { type Showcase, shell } from "./showcase.ts";

export async function runByKeys(showcase: Showcase): Promise<void> {
  const junit = `<testsuite name="s"><testcase name="sums up"><failure message="2 is not 3"/></testcase></testsuite>`;
  const pipelineId = await showcase.installation.pipeline("by-keys", [
    {
      name: "test",
      steps: [shell("units", `printf '%s' '${junit}' > r.xml; exit 1`, { reports: { junit: ["r.xml"] } })],
    },
  ]);
  const context = await showcase.browser.newContext({ baseURL: showcase.origin });
  const fresh = await context.newPage();
  fresh.setDefaultTimeout(30_000);
  showcase.watch(fresh);
  await fresh.goto("/");
  await fresh.locator("[name=name]").waitFor();
  const { keyboard } = fresh;
  await keyboard.type("olga");
  await keyboard.press("Tab");
  await keyboard.type("correct horse battery");
  await keyboard.press("Enter");
  await fresh.waitForURL((url) => url.pathname === "/");
  await fresh.getByRole("heading", { level: 1 }).waitFor();
  await keyboard.press("Control+k");
  await fresh.locator("[role=combobox]:focus").waitFor();
  await keyboard.type("edit by-keys");
  await fresh.getByRole("option", { name: /Edit by-keys/ }).waitFor();
  await keyboard.press("Enter");
  await fresh.waitForURL(`**/pipelines/${pipelineId}/edit`);
  await fresh.locator("[data-editor] .cm-content").waitFor();
  await keyboard.press("e");
  await fresh.locator("[data-editor] .cm-content:focus").waitFor();
  await keyboard.press("Control+Home");
  await keyboard.type("# written by keys alone");
  await keyboard.press("Enter");
  await fresh.getByText("No problem", { exact: true }).waitFor();
  await keyboard.press("Control+s");
  await fresh.getByRole("dialog").getByLabel("What the change is for").waitFor();
  await keyboard.type("say how it was written");
  await keyboard.press("Enter");
  await fresh.getByText("The definition is saved").waitFor();
  const saved = await showcase.call("GET", `/pipelines/${pipelineId}/spec`);
  expect(saved.text).to.match(/^# written by keys alone\n/);
  expect(saved.commitMessage).to.equal("say how it was written");
  await keyboard.press("Control+k");
  await fresh.locator("[role=combobox]:focus").waitFor();
  await keyboard.type("trigger by-keys");
  await fresh.getByRole("option", { name: /Trigger by-keys/ }).waitFor();
  await keyboard.press("Enter");
  await fresh.waitForURL(`**/pipelines/${pipelineId}/trigger`);
  await fresh.getByRole("button", { name: "Start the run" }).waitFor();
  await tabTo(fresh, "Start the run");
  await keyboard.press("Enter");
  await fresh.waitForURL("**/runs/run_*");
  const first = new URL(fresh.url()).pathname;
  await fresh.locator("header").getByText("Failed", { exact: true }).waitFor();
  await keyboard.press("5");
  await fresh.getByText("sums up").waitFor();
  await fresh.getByText("2 is not 3").waitFor();
  await keyboard.press("r");
  await fresh.getByRole("dialog").waitFor();
  await tabTo(fresh, "Run again");
  await keyboard.press("Enter");
  await fresh.waitForURL((url) => url.pathname.startsWith("/runs/run_") && url.pathname !== first);
  const repeated = new URL(fresh.url()).pathname.split("/").at(-1)!;
  expect((await showcase.call("GET", `/pipelines/runs/${repeated}`)).retryOf).to.equal(first.split("/").at(-1));
  await context.close();
}

/** Presses Tab until the button with this text has the focus. */
async function tabTo(at: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await at.keyboard.press("Tab");
    if ((await at.locator("button:focus").allInnerTexts()).includes(text)) return;
  }
  throw new Error(`no button ${text} is reached by Tab`);
}
