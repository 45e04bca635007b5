/** What administrators do on the pages of rights: teams, service accounts with tokens, and tokens of agents. */
import { expect } from "chai";
import type { Page } from "playwright-core";
import { seriousProblems } from "../support/accessibility.ts";
import type { Showcase } from "./showcase.ts";

const partsOf = (page: Page) => ({
  dialog: () => page.getByRole("dialog"),
  row: (text: string) => page.getByRole("row").filter({ hasText: text }),
});

/** Makes teams and service accounts with roles and tokens, and takes them back. */
export async function teamsAndAccounts(showcase: Showcase, page: Page): Promise<void> {
  const { dialog, row } = partsOf(page);
  const tenant = `/admin/tenants/${showcase.tenantId}`;
  await page.goto(`${tenant}/teams`);
  await page.getByRole("button", { name: "New team" }).click();
  await dialog().getByLabel("Name").fill("Testers");
  await page.keyboard.press("Enter");
  await page.getByText("The team is empty").waitFor();
  await page.getByRole("button", { name: "Add to the team" }).first().click();
  await dialog().getByLabel("Name").fill("a-name-without-a-user");
  await page.keyboard.press("Enter");
  await dialog().getByRole("alert").waitFor();
  await dialog().getByLabel("Name").fill("maria");
  await page.keyboard.press("Enter");
  await row("maria").waitFor();
  await page.getByRole("button", { name: "Give a role" }).click();
  await dialog().getByLabel("Role").selectOption("operator");
  await dialog().getByRole("button", { name: "Give a role" }).click();
  await dialog().waitFor({ state: "detached" });
  await page.goto(tenant);
  await row("Testers").waitFor();
  expect(await page.getByLabel("Role of Testers").inputValue()).to.equal("operator");
  await page.goto(`${tenant}/teams`);
  await page.getByRole("link", { name: "Testers" }).click();
  await row("maria").getByRole("button", { name: "Take out" }).click();
  await dialog().getByRole("button", { name: "Take out" }).click();
  await page.getByText("The team is empty").waitFor();
  await page.getByRole("region", { name: "Testers" }).getByRole("button", { name: "Delete" }).click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(`**${tenant}/teams`);
  await row("Testers").waitFor({ state: "detached" });

  await page.goto(`/projects/${showcase.projectId}/accounts`);
  await row("deployer").getByRole("button", { name: "Tokens" }).click();
  await dialog().getByText("nothing can act as this account").waitFor();
  await dialog().getByRole("button", { name: "New token" }).click();
  await dialog().getByLabel("Name").fill("nightly");
  await dialog().getByLabel("It may").selectOption("trigger");
  await page.keyboard.press("Enter");
  const token = await dialog().getByText(/^mrt_/).innerText();
  const asDeployer = () => fetch(`${showcase.origin}/api/v1/whoami`, { headers: { authorization: `Bearer ${token}` } });
  const whoami = await asDeployer();
  expect(whoami.status).to.equal(200);
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  expect(((await whoami.json()) as any).detail).to.deep.include({ scopes: ["trigger"] });
  await page.keyboard.press("Escape");
  const tokens = page.getByRole("dialog", { name: "Tokens of deployer" });
  await tokens.getByRole("row").filter({ hasText: "may read, start runs" }).waitFor();
  expect(await page.content()).to.not.include(token);
  // A token is deleted once the reader has said so again.
  await tokens.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete the token nightly" }).getByRole("button", { name: "Cancel" }).click();
  await tokens.getByRole("row").filter({ hasText: "nightly" }).waitFor();
  await page.keyboard.press("Escape");
  await row("deployer").getByRole("button", { name: "Disable" }).click();
  await dialog().getByRole("button", { name: "Disable" }).click();
  await row("deployer").getByRole("button", { name: "Enable" }).waitFor();
  expect((await asDeployer()).status).to.equal(401);
  await row("deployer").getByRole("button", { name: "Enable" }).click();
  await row("deployer").getByRole("button", { name: "Disable" }).waitFor();
}

/** Makes a token with which agents register, and takes it back. */
export async function addAgent(showcase: Showcase, page: Page): Promise<void> {
  const { dialog, row } = partsOf(page);
  await page.goto("/agents");
  await page.getByRole("button", { name: "Add an agent" }).click();
  await dialog().getByLabel("Name").fill("build machines");
  await dialog().getByLabel("Labels").fill("no label");
  await dialog().getByRole("button", { name: "Make the token" }).click();
  await dialog().getByRole("alert").getByText("“no label” is no key=value").waitFor();
  await dialog().getByLabel("Labels").fill("pool=production\nzone = north");
  await dialog().getByRole("button", { name: "Make the token" }).click();
  const command = await dialog()
    .getByText(/millrace agent --gateway/)
    .innerText();
  expect(command).to.match(/^MILLRACE_REGISTRATION_TOKEN=\S+ millrace agent --gateway 127\.0\.0\.1:9090$/);
  expect(await seriousProblems(page)).to.deep.equal([]);
  await page.keyboard.press("Escape");
  await row("build machines").getByText("zone=north").waitFor();
  const { list } = await showcase.call("GET", "/agents/registration-tokens");
  const made = list.find((one: { readonly name: string }) => one.name === "build machines");
  expect(made).to.deep.include({ maxUses: 1, labels: { pool: "production", zone: "north" } });
  expect(await page.content()).to.not.include(command.split(/[= ]/)[1]);
  await row("build machines").getByRole("button", { name: "Delete" }).click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await row("build machines").waitFor({ state: "detached" });
}
