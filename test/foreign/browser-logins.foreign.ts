/**
 * Logins in a real browser at a real node: by a real OpenID Connect provider, by an invitation, and of a device. Needs
 * Chromium, so it is not part of `npm test`.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startIdentityProvider, type TestIdentityProvider } from "../support/identity-provider.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startBrowser } from "../support/browser-program.ts";

const ADMIN_TOKEN = `mrt_${randomUUID()}${randomUUID()}`;
const PASSWORD = "a long password of this test";

describe("a real browser", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let idp: TestIdentityProvider;
  let node: ServeNode;
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** What the browser complained about, and each request to another host than the node and the provider. */
  let complaints: string[];
  let foreign: string[];

  before(async () => {
    idp = await startIdentityProvider();
    world = await ProcessWorld.create();
    const { issuer, clientId, clientSecret } = idp;
    const corp = { id: "corp", name: "Corp", issuer, clientId, clientSecret, autoProvision: true };
    const file = join(world.folder, "oidc.json");
    await writeFile(file, JSON.stringify({ providers: [corp] }));
    const env = { MILLRACE_BOOTSTRAP_TOKEN: ADMIN_TOKEN, MILLRACE_OIDC_FILE: file };
    node = await world.serve("edge,gateway,worker", { env });
    origin = `http://${node.http}`;
    idp.serve([`${origin}/login/oidc/corp/callback`]);
    idp.accounts.set("a1", { preferred_username: "ann", email: "ann@corp.example", email_verified: true });
    idp.next = "a1";
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await world?.end();
    await idp?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    complaints = [];
    foreign = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith(`${idp.issuer}/`)) foreign.push(url);
    });
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).to.deep.equal([]);
    expect(foreign).to.deep.equal([]);
  });

  const call = async (path: string, token: string, body?: object) => {
    const answer = await fetch(`${origin}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
    return (await answer.json()) as any;
  };
  /** Who the browser is, by its cookie alone. The pages run no script. */
  const whoami = async () => {
    const answer = await context.request.get(`${origin}/api/v1/whoami`);
    return { status: answer.status(), name: ((await answer.json()) as Whoami).detail?.user.name };
  };
  /** The provider is another port of the same host, so the browser keeps its cookies beside those of the node. */
  const ownCookies = async () => (await context.cookies(origin)).filter(({ name }) => name.startsWith("millrace"));
  const logInByCorp = async () => {
    await page.goto(`${origin}/login`);
    await page.getByRole("link", { name: "Log in with Corp" }).click();
    await page.getByRole("button", { name: "Log out" }).waitFor();
  };

  it("logs in at the provider, keeps a session that no script can read, and logs out", async () => {
    await logInByCorp();
    expect(page.url()).to.equal(`${origin}/login`);
    expect(await whoami()).to.deep.equal({ status: 200, name: "ann" });
    const [cookie, ...more] = await ownCookies();
    expect(more, "the cookie of the login's state is gone").to.deep.equal([]);
    expect(cookie).to.include({ httpOnly: true, sameSite: "Strict", path: "/" });
    expect(await page.evaluate("document.cookie"), "what a script sees").not.to.include("millrace");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("link", { name: "Log in with Corp" }).waitFor();
    expect(await ownCookies()).to.deep.equal([]);
    expect((await whoami()).status).to.equal(401);
  });

  it("admits a device after the login at the provider, and the device gets its tokens", async () => {
    const asked = await fetch(`${origin}/api/v1/auth/device/code`, {
      method: "POST",
      body: new URLSearchParams({ client_id: "a program" }),
    });
    const device = (await asked.json()) as { device_code: string; verification_uri_complete: string };
    await page.goto(device.verification_uri_complete);
    await page.getByRole("link", { name: "Log in with Corp" }).click();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("a program").waitFor();
    await page.getByRole("button", { name: "Admit" }).click();
    await page.getByText("The device is logged in").waitFor();
    const taken = await fetch(`${origin}/api/v1/auth/device/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: device.device_code,
      }),
    });
    const tokens = (await taken.json()) as { access_token: string };
    expect((await call("/whoami", tokens.access_token)).detail.user.name).to.equal("ann");
  });

  it("finishes an invitation once", async () => {
    const { detail } = await call("/invitations", ADMIN_TOKEN, { name: "zoe", role: "viewer" });
    await page.goto(detail.link);
    await page.getByLabel("password", { exact: false }).fill(PASSWORD);
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByRole("button", { name: "Log out" }).waitFor();
    expect(await whoami()).to.deep.equal({ status: 200, name: "zoe" });
    const again = await page.goto(detail.link);
    expect(again!.status()).to.be.oneOf([404, 410]);
    // The browser writes each answer of 400 or more to its console.
    complaints = complaints.filter((text) => !/404|410/.test(text));
  });

  it("lets no page of another site act for the user", async () => {
    await logInByCorp();
    const site = await serveHostilePage(origin);
    try {
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      await page.getByRole("button", { name: "win" }).click();
      await page.waitForLoadState();
      await page.goto(`${origin}/login`);
      expect(await whoami(), "the foreign form has ended no session").to.deep.equal({ status: 200, name: "ann" });
    } finally {
      site.close();
    }
    foreign = [];
    complaints = complaints.filter((text) => !text.includes("403"));
  });
});

interface Whoami {
  readonly detail?: { readonly user: { readonly name: string } };
}

/** A page with a form that would end the session of who visits it. */
async function serveHostilePage(origin: string): Promise<Server> {
  const text = `<!doctype html><form method="post" action="${origin}/logout"><button>win</button></form>`;
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}
