/** The page of events is what follows from the table of events. */
import { expect } from "chai";
import { deriveEventSchemas, deriveEventsPage } from "../support/events-page.ts";
import { EVENT_TYPES } from "../support/event-check.ts";
import { blocksOf, readPage } from "../support/pages.ts";
import { readTable } from "../support/markdown-table.ts";

describe("the page of events", () => {
  const page = readPage("docs/events.md");
  const derived = deriveEventsPage(page);
  const schemas = JSON.parse(readPage("docs/events.json"));

  it("has every type with the schema of its data", () => {
    const typesIn = (text: string) => [...text.matchAll(/^\| `([\w.]+\.[\w*]+)`/gm)].map(([, type]) => type);
    expect(typesIn(page)).to.include.members([...EVENT_TYPES]);
    const blocks = (text: string) =>
      blocksOf(text)
        .filter(({ info }) => info === "json")
        .map(({ text: block }) => JSON.parse(block) as object);
    expect(blocks(page)).to.deep.equal(blocks(derived));
    expect(readTable(page)).to.deep.equal(readTable(derived));
    expect(schemas).to.deep.equal(JSON.parse(deriveEventSchemas()));
    expect(Object.keys(schemas.$defs)).to.have.members([...EVENT_TYPES]);
  });
});
