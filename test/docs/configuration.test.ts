/** docs/configuration.md and the table of settings behind it are complete, and their defaults are those of the code. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { AGENT_SETTINGS } from "../../src/settings/agent-file.ts";
import { KNOWN_VARIABLES, readAgentConfig, readNodeConfig } from "../../src/settings/config.ts";
import { type Setting, SETTING_GROUPS } from "../../src/settings/setting.ts";
import { type SettingName, SETTINGS } from "../../src/settings/table.ts";
import { deriveConfigurationPage } from "../support/configuration-page.ts";
import { PAGES, readPage, ROOT } from "../support/pages.ts";

const settings = Object.entries(SETTINGS) as [SettingName, Setting][];
/** Variables that a command reads itself, not a node or an agent. */
const OF_COMMANDS: readonly SettingName[] = ["MILLRACE_URL", "MILLRACE_TOKEN", "REDIS_BINARY"];

describe("the page of settings", () => {
  const page = readPage("docs/configuration.md");

  it("has the tables of the code (else run `npm run generate`)", () => {
    const groups = [...page.matchAll(/<!-- settings: (.+?) -->/g)].map(([, group]) => group);
    expect(groups).to.have.members([...SETTING_GROUPS]);
    expect(deriveConfigurationPage(page)).to.equal(page);
  });

  it("has a row for every setting that the program reads, and no other", () => {
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => name);
    expect(rows).to.have.members([...KNOWN_VARIABLES, ...OF_COMMANDS]);
  });

  const sources = ["src", "scripts"]
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => join(ROOT, folder, path)),
    )
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .map((path) => readFileSync(path, "utf8"));

  it("has every variable that the sources name", () => {
    const named = sources
      .flatMap((text) => [...text.matchAll(/(?:env|environment)\["(MILLRACE_\w+)"\]/g)])
      .map(([, name]) => name);
    expect(named).to.have.length.of.at.least(1);
    expect(Object.keys(SETTINGS)).to.include.members(named);
  });

  it("names no variable that the sources do not know, nor does another page of docs", () => {
    const known = new Set(sources.flatMap((text) => text.match(/\bMILLRACE_\w+/g) ?? []));
    const wrong = PAGES.filter((path) => path.startsWith("docs/")).flatMap((path) =>
      (readPage(path).match(/\bMILLRACE_\w+/g) ?? [])
        .filter((name) => !known.has(name) && !name.startsWith("MILLRACE_SERVICE_"))
        .map((name) => `${path}: ${name}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it("gives each setting either a default or the meaning of a missing value", () => {
    for (const [name, { standard, without }] of settings) {
      expect((standard === null) !== (without === undefined), name).to.equal(true);
    }
  });

  for (const [name, { standard }] of settings) {
    if (standard === null) continue;
    it(`has the same default of ${name} as the code`, () => {
      const isAgents = Object.values<string>(AGENT_SETTINGS).includes(name);
      // This setting has an effect only with MongoDB.
      const others = name === "MONGODB_DATABASE" ? { MONGODB_URL: "mongodb://store", MILLRACE_ROLES: "worker" } : {};
      if (isAgents) {
        expect(readAgentConfig({ [name]: standard })).to.deep.equal(readAgentConfig({}));
        return;
      }
      const { given, ...read } = readNodeConfig({ ...others, [name]: standard });
      const { given: _, ...expected } = readNodeConfig(others);
      expect(read).to.deep.equal(expected);
      expect(given).to.include(name);
    });
  }
});
