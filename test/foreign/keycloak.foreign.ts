/** Logins at a real Keycloak in a real browser. Needs Java 17, Maven and Chromium, so it is not part of `npm test`. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, BrowserContext } from "playwright-core";
import { ProcessWorld } from "../support/processes.ts";
import { startBrowser } from "../support/browser-program.ts";
import { type Keycloak, startKeycloak } from "./keycloak.ts";

const ADMIN_TOKEN = `mrt_${randomUUID()}${randomUUID()}`;
const SECRET = "the secret of the client";

const user = (username: string, groups: readonly string[], emailVerified = true) => ({
  username,
  enabled: true,
  email: `${username}@corp.example`,
  emailVerified,
  firstName: username,
  lastName: "Example",
  groups: groups.map((group) => `/${group}`),
  credentials: [{ type: "password", value: `the password of ${username}`, temporary: false }],
});

/** The claim `groups` needs a mapper: Keycloak has none by itself. */
const GROUPS_MAPPER = {
  name: "groups",
  protocol: "openid-connect",
  protocolMapper: "oidc-group-membership-mapper",
  config: { "claim.name": "groups", "full.path": "false", "id.token.claim": "true", "userinfo.token.claim": "true" },
};

describe("a login at Keycloak", function () {
  this.timeout(900_000);
  let keycloak: Keycloak;
  let world: ProcessWorld;
  let browser: Browser;
  let origin: string;

  before(async () => {
    keycloak = await startKeycloak({
      groups: [{ name: "builders" }, { name: "visitors" }],
      users: [user("kim", ["builders"]), user("lou", ["visitors"]), user("max", ["builders"], false)],
      clients: [
        {
          clientId: "millrace",
          secret: SECRET,
          redirectUris: ["http://127.0.0.1:*"],
          attributes: { "pkce.code.challenge.method": "S256" },
          protocolMappers: [GROUPS_MAPPER],
        },
      ],
    });
    world = await ProcessWorld.create();
    const file = join(world.folder, "oidc.json");
    const corp = { id: "corp", name: "Corp", issuer: keycloak.issuer, clientId: "millrace", clientSecret: SECRET };
    const mapping = { roles: { builders: "maintainer" }, defaultRole: null, autoProvision: true };
    await writeFile(file, JSON.stringify({ providers: [{ ...corp, ...mapping }] }));
    const env = { MILLRACE_BOOTSTRAP_TOKEN: ADMIN_TOKEN, MILLRACE_OIDC_FILE: file };
    origin = `http://${(await world.serve("edge,gateway,worker", { env })).http}`;
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await world?.end();
    await keycloak?.stop();
  });

  /** Logs in as a person does. Answers what the person then sees, and who the installation says that it is. */
  const logIn = async (name: string) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/login`);
    await page.getByRole("link", { name: "Log in with Corp" }).click();
    await page.getByLabel("Username").fill(name);
    await page.getByRole("textbox", { name: "Password" }).fill(`the password of ${name}`);
    await page.getByRole("button", { name: "Sign In" }).click();
    await page.waitForURL(`${origin}/**`);
    await page.waitForLoadState("networkidle");
    const seen = { text: await page.locator("body").innerText(), user: await userOf(context) };
    await context.close();
    return seen;
  };
  const userOf = async (context: BrowserContext) => {
    const answer = await context.request.get(`${origin}/api/v1/whoami`);
    const { detail } = (await answer.json()) as { readonly detail?: { readonly user: { readonly userId: string } } };
    return detail?.user;
  };

  it("creates the user with the role of the group, and finds the user again", async () => {
    const { user: kim } = await logIn("kim");
    expect(kim).to.include({ name: "kim", role: "maintainer", email: "kim@corp.example" });
    expect((await logIn("kim")).user!.userId).to.equal(kim!.userId);
  });

  it("is refused without a group that has a role, and works once the person is in one", async () => {
    const { text, user: none } = await logIn("lou");
    expect(none).to.equal(undefined);
    expect(text).to.include("none of your groups");
    const [[lou], groups] = (await Promise.all([
      keycloak.admin("GET", "/users?username=lou&exact=true"),
      keycloak.admin("GET", "/groups"),
    ])) as [[{ readonly id: string }], readonly { readonly id: string; readonly name: string }[]];
    const builders = groups.find(({ name }) => name === "builders")!;
    await keycloak.admin("PUT", `/users/${lou.id}/groups/${builders.id}`, {});
    expect((await logIn("lou")).user).to.include({ name: "lou", role: "maintainer" });
  });

  it("takes no address over that Keycloak has not verified", async () => {
    const { user: max } = await logIn("max");
    expect(max).to.include({ name: "max" }).and.not.to.have.property("email");
  });

  it("is refused for a person whom Keycloak has disabled", async () => {
    const [kim] = (await keycloak.admin("GET", "/users?username=kim&exact=true")) as [{ readonly id: string }];
    await keycloak.admin("PUT", `/users/${kim.id}`, { enabled: false });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/login/oidc/corp`);
    await page.getByLabel("Username").fill("kim");
    await page.getByRole("textbox", { name: "Password" }).fill("the password of kim");
    await page.getByRole("button", { name: "Sign In" }).click();
    await page.getByText("disabled").waitFor();
    expect(page.url().startsWith(keycloak.issuer), "the browser is still at Keycloak").to.equal(true);
    expect(await userOf(context)).to.equal(undefined);
    await context.close();
  });
});
