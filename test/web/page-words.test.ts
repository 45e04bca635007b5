/** What pages say of browsers and of arguments of actions; and that every page has its pictures. */
import { expect } from "chai";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { argumentsOf } from "../../web/src/admin/plugin-arguments.ts";
import { relativeText } from "../../web/src/parts/time-texts.ts";
import { browserText } from "../../web/src/parts/browser-text.ts";
import { GROUPS, listOf, type Shown } from "../screenshots/pictures.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("what the pages say", () => {
  it("names a browser and its system, and leaves the text of a program as it is", () => {
    const onLinux =
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
    const onPhone =
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
    const onAndroid = "Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0";
    expect(browserText(onLinux)).to.equal("Chrome on Linux");
    expect(browserText(`${onLinux} Edg/142.0.0.0`)).to.equal("Edge on Linux");
    expect(browserText(onPhone)).to.equal("Safari on iOS");
    expect(browserText(onAndroid)).to.equal("Firefox on Android");
    expect(browserText("millrace/0.1.0")).to.equal("millrace/0.1.0");
    expect(browserText("")).to.equal("");
  });

  it("says of what ends later the time that a reader has set, also a moment afterwards", () => {
    const day = 24 * 60 * 60 * 1_000;
    const texts = [7 * day - 20_000, day - 1_000, 90 * day - 60_000, 40_000, 4_000, -7 * day + 1_000];
    expect(texts.map((ms) => relativeText(ms, 0))).to.deep.equal([
      "in 7d",
      "tomorrow",
      "in 3mo",
      "in 40s",
      "now",
      "6d ago",
    ]);
  });

  it("lists the arguments of an action, unless its schema says more than a list can", () => {
    const schema = {
      type: "object",
      properties: {
        to: { type: "string", description: "Who is greeted." },
        times: { type: "integer", minimum: 1, maximum: 3, default: 1 },
        words: { type: "array", items: { enum: ["good", "morning"] } },
      },
      required: ["to"],
      additionalProperties: false,
    };
    expect(argumentsOf(schema)).to.deep.equal([
      { name: "to", type: "string", description: "Who is greeted.", isRequired: true },
      { name: "times", type: "integer, 1 to 3, default 1", description: "", isRequired: false },
      { name: "words", type: "list of good | morning", description: "", isRequired: false },
    ]);
    expect(argumentsOf(false)).to.deep.equal([]);
    expect(argumentsOf({ ...schema, oneOf: [] })).to.equal(undefined);
    expect(argumentsOf({ ...schema, additionalProperties: { type: "string" } })).to.equal(undefined);
  });
});

describe("the pictures of the pages", () => {
  const shown: Shown = {
    pipelines: { storefront: "pip", payments: "pip" },
    runs: { failed: "run", success: "run", approval: "run", waiting: "run", running: "run" },
    failedStep: "step",
    projectId: "prj",
    tenantId: "ten",
    teamId: "team",
    webhookId: "webhook",
    hookId: "hook",
    agentId: "agent",
    invitation: "/invitation?token=t",
    userCode: "CODE",
  };

  it("show each page of the list of routes", () => {
    const routes = readFileSync(join(ROOT, "web/src/app/routes.tsx"), "utf8").matchAll(/<Route path="([^"]+)"/g);
    const addresses = GROUPS.flatMap(({ pictures }) => pictures.map(({ address }) => address(shown).split(/[?#]/)[0]!));
    const missing = [...routes].map(([, path]) => path!).filter((path) => !addresses.some((one) => fits(path, one)));
    expect(missing).to.deep.equal([]);
  });

  it("are there in both themes, in the order of the list", () => {
    const folder = join(ROOT, "docs/images");
    expect(readFileSync(join(folder, "README.md"), "utf8")).to.equal(listOf(folder));
  });
});

function fits(route: string, address: string): boolean {
  const pattern = route
    .replaceAll(/\/:\w+\?/g, "(?:/[^/]+)?")
    .replaceAll(/:\w+\+/g, ".+")
    .replaceAll(/:\w+/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(address);
}
