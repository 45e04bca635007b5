/** docs/definition.md says of every context what it holds. */
import { expect } from "chai";
import { CONTEXTS } from "../../src/definition/text/expression-places.ts";
import { readTable } from "../support/markdown-table.ts";
import { readPage, under } from "../support/pages.ts";

describe("the page of the definition language", () => {
  it("has a row for every context of expressions", () => {
    const names = readTable(under(readPage("docs/definition.md"), "Contexts")).map(([name]) =>
      name!.replaceAll("`", ""),
    );
    expect(names).to.have.members([...CONTEXTS]);
  });
});
