/** Filters of lists: the address says them, the page shows them, and the back button undoes a choice. */
import { expect } from "chai";
import type { Page } from "playwright-core";
import { knownStatuses, statusesWith } from "../../web/src/pages/status-filter.ts";
import { Showcase } from "./showcase.ts";

describe("the filter of runs by status", () => {
  it("knows the statuses of a choice in any order", () => {
    expect(knownStatuses("partial,failed")).to.equal("failed,partial");
    expect(knownStatuses("")).to.equal("");
    expect(statusesWith("failed,partial")).to.deep.equal(statusesWith(""));
  });

  it("has a choice more for statuses that no choice has", () => {
    expect(statusesWith("failed").at(-1)).to.deep.equal(["failed", "Only failed"]);
    expect(statusesWith("failed,success").at(-1)).to.deep.equal(["failed,success", "Only failed, success"]);
    expect(statusesWith("nothing").at(-1)).to.deep.equal(["nothing", "Only nothing"]);
  });
});

describe("filters in the address", function () {
  this.timeout(120_000);
  let showcase: Showcase;
  let page: Page;

  before(async () => {
    showcase = await Showcase.start();
    page = await showcase.page();
  });

  after(() => showcase?.end());

  const chosen = () => page.locator("main [aria-pressed=true]").allInnerTexts();
  const choose = async (name: string, search: string) => {
    await page.getByRole("button", { name, exact: true }).click();
    await page.waitForURL((url) => url.search === search);
  };

  it("are always shown, also one that no button of the page makes", async () => {
    await page.goto("/runs?status=failed");
    await page.getByRole("button", { name: "Only failed", exact: true, pressed: true }).waitFor();
    expect(await chosen()).to.deep.equal(["Only failed"]);
    await page.goto("/runs?status=partial,failed");
    await page.getByRole("button", { name: "Failed", exact: true, pressed: true }).waitFor();
  });

  it("go back one choice at a time, and over what was typed at once", async () => {
    await page.goto("/pipelines");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.waitForURL("**/runs");
    await choose("Failed", "?status=failed%2Cpartial");
    await choose("Success", "?status=success");
    await choose("Success", "?status=success");
    await choose("Mine", "?status=success&mine=true");
    const branch = page.getByRole("searchbox", { name: "Branch or tag" });
    for (const text of ["m", "main"]) {
      await branch.fill(text);
      await page.waitForURL((url) => url.searchParams.get("ref") === text);
    }
    await page.goBack();
    await page.waitForURL((url) => url.search === "?status=success");
    expect(await chosen()).to.deep.equal(["Success"]);
    expect(await branch.inputValue()).to.equal("");
    await page.goBack();
    await page.waitForURL((url) => url.search === "?status=failed%2Cpartial");
    expect(await chosen()).to.deep.equal(["Failed"]);
    await page.goForward();
    await page.waitForURL((url) => url.search === "?status=success");
    await page.goBack();
    await page.goBack();
    await page.waitForURL((url) => url.pathname === "/runs" && url.search === "");
    await page.goBack();
    await page.waitForURL("**/pipelines");
  });
});
