/** What the editor of definitions knows about a text: where the writer is, what may stand there, and how two texts go together. */
import { expect } from "chai";
import { definitionJsonSchema } from "../../src/definition/json-schema.ts";
import { specOf, standingPlaceAt, writingPlaceAt } from "../../web/src/edit/definition-text.ts";
import { compareTexts, takeOver } from "../../web/src/edit/merge-texts.ts";
import { type JsonSchema, keysAt, meaningAt, wordsAt } from "../../web/src/edit/schema-hints.ts";
import { STARTER } from "../../web/src/pages/starter.ts";

const schema = definitionJsonSchema() as JsonSchema;

/** The keys that are suggested at the bar in the text. */
function keys(marked: string): readonly string[] {
  const place = writingPlaceAt(marked.replace("|", ""), marked.indexOf("|"))!;
  expect(place.kind).to.equal("key");
  return keysAt(schema, place.root, place.path).map(({ key }) => key);
}

function suggestedWords(marked: string): readonly string[] {
  const place = writingPlaceAt(marked.replace("|", ""), marked.indexOf("|"))!;
  return wordsAt(schema, place.root, place.path);
}

describe("the editor of definitions", () => {
  it("suggests the keys that may stand at the cursor and are not there yet", () => {
    expect(keys("|")).to.include.members(["jobs", "stages", "triggers", "env"]).and.not.include("Triggers");
    expect(keys("jobs:\n  - name: a\n    |")).to.include.members(["steps", "needs"]).and.not.include("name");
    expect(keys("jobs:\n  - name: a\n    st|\n    timeout: 3m\n")).to.include("steps").and.not.include("timeout");
    expect(keys("jobs: [{ name: a, |")).to.include("steps");
    expect(keys('{ "jobs": [{ "name": "a", "st|" }] }')).to.include("steps");
    expect(keys('{ "jobs": [{ "na|": "a" }] }')).to.include("name");
  });

  it("suggests the arguments of the builtin that the step uses", () => {
    const step = (uses: string) => `jobs:\n  - name: a\n    steps:\n      - uses: ${uses}\n        args:\n          |`;
    expect(keys(step("shell")))
      .to.include("script")
      .and.not.include("url");
    expect(keys(step("http")))
      .to.include("url")
      .and.not.include("script");
  });

  it("suggests the words of a value", () => {
    expect(suggestedWords("jobs:\n  - name: a\n    steps:\n      - uses: sh|\n")).to.include("shell");
    expect(suggestedWords("jobs:\n  - steps:\n      - continueOnError: |\n")).to.deep.equal(["true", "false"]);
  });

  it("suggests nothing in a comment, and survives every beginning of a text", () => {
    expect(writingPlaceAt("# jo", 4)).to.equal(undefined);
    const text = STARTER.layout;
    for (let end = 0; end <= text.length; end++) {
      const place = writingPlaceAt(text.slice(0, end), end);
      if (place !== undefined) keysAt(schema, place.root, place.path);
      standingPlaceAt(text.slice(0, end), Math.floor(end / 2));
    }
  });

  it("says what a key means", () => {
    const text = "jobs:\n  - name: a\n    timeout: 3m\n";
    const { path, root } = standingPlaceAt(text, text.indexOf("timeout") + 2)!;
    expect(path).to.deep.equal(["jobs", 0, "timeout"]);
    expect(meaningAt(schema, root, path)!.about).to.include("longest time");
  });

  it("reads the definition that the server reads, and none in a broken text", () => {
    expect(specOf(STARTER.layout)).to.deep.equal(STARTER.spec);
    expect(specOf('{ "jobs": [] }')).to.deep.equal({ jobs: [] });
    for (const broken of ["", "jobs: [", "- a", "text", "a: *b"]) expect(specOf(broken), broken).to.equal(undefined);
  });

  it("takes over the change of another where the lines are apart, and says where they are not", () => {
    const base = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\n";
    const mine = base.replace("h: 8", "h: 9");
    expect(takeOver(base, base.replace("a: 1", "a: 0"), mine)).to.equal(mine.replace("a: 1", "a: 0"));
    expect(takeOver(base, base.replace("h: 8", "h: 7"), mine)).to.equal(undefined);
    expect(compareTexts(base, mine)).to.include("-h: 8\n+h: 9");
    expect(compareTexts(base, base)).to.equal("");
    const long = (word: string) => Array.from({ length: 2_000 }, (_, at) => `${word} ${at}`).join("\n");
    expect(compareTexts(long("a"), long("b"))).to.equal(undefined);
  });
});
