/** docs/cli.md names every command of the program. */
import { expect } from "chai";
import { buildProgram } from "../../src/cli/commands/program.ts";
import { readPage } from "../support/pages.ts";

describe("the page of the command line", () => {
  it("has a row for every command, which names each of its own commands", () => {
    const rows = readPage("docs/cli.md").match(/^\| `millrace .*$/gm)!;
    const { commands } = buildProgram(() => {}, false);
    expect(commands).to.have.length.of.at.least(40);
    const missing = commands.flatMap((command) => {
      const name = command.name();
      const own = rows.filter((row) => new RegExp(`\`(millrace )?${name}\\b`).test(row.split(" | ")[0]!)).join("\n");
      const lacks = (further: string) => !new RegExp(`\`(millrace )?(${name} )?${further}\\b`).test(own);
      const further = command.commands.map((one) => one.name()).filter(lacks);
      return own === "" ? [name] : further.map((each) => `${name} ${each}`);
    });
    expect(missing).to.deep.equal([]);
  });
});
