import { expect } from "chai";
import { SecretFinder } from "../../src/agent/logs/secret-finder.ts";
import { readEvents } from "../../src/agent/step-events.ts";
import type { StepFile } from "../../src/agent/step-file.ts";

const SECRET = "s3cret-value-4711";

function read(content: string | Buffer, secrets: readonly string[] = []) {
  const bytes = Buffer.from(content);
  const file: StepFile = {
    path: "",
    read: (max) => ({ bytes: bytes.subarray(0, max), size: bytes.length, problem: undefined }),
    dispose() {},
  };
  return readEvents(file, new SecretFinder(secrets));
}

/** Why a line is no event. */
const problemOf = (line: string | Buffer, secrets?: readonly string[]) => read(line, secrets).problems[0]?.text;

describe("the events of a step", () => {
  it("are JSON objects, one a line, with a type, a subject and data", () => {
    const lines = ['{"type":"progress","subject":"test:login","data":{"done":3}}\r', "", ' {"type":"noted"} ', "x"];
    expect(read(lines.join("\n"))).to.deep.equal({
      events: [
        { line: 1, type: "progress", subject: "test:login", dataJson: '{"done":3}' },
        { line: 3, type: "noted", subject: "", dataJson: "{}" },
      ],
      problems: [{ line: 4, text: "it is not JSON" }],
    });
  });

  it("are refused with the reason, and without the text of the line", () => {
    const deep = `${'{"a":'.repeat(101)}1${"}".repeat(101)}`;
    const refused: Record<string, string | Buffer> = {
      "must be a JSON object": "[]",
      "a key besides type, subject and data": '{"type":"a","level":1}',
      "type must be a string": '{"data":{}}',
      "subject must be a string": '{"type":"a","subject":1}',
      "data must be a JSON object": '{"type":"a","data":[]}',
      "more than 100 levels": `{"type":"a","data":${deep}}`,
      "more than 67584 bytes": `{"type":"a","data":{"b":"${"x".repeat(70_000)}"}}`,
      "not UTF-8": Buffer.from([0x22, 0xff, 0x22]),
    };
    for (const [reason, line] of Object.entries(refused)) expect(problemOf(line), reason).to.include(reason);
    expect(problemOf("[".repeat(60_000)), "only brackets").to.equal("it is not JSON");
    expect(problemOf(`{"type":"a","data":{"b":${"[".repeat(30_000)}${"]".repeat(30_000)}}}`)).to.include("100 levels");
  });

  it("have no secret: it is masked in texts and keys, and an event with one elsewhere is not sent", () => {
    const line = `{"type":"a","subject":"x ${SECRET}","data":{"list":["${SECRET}"],"${SECRET}":1,"__proto__":{"b":2}}}`;
    const { events } = read(line, [SECRET]);
    expect(events).to.have.length(1);
    expect(events[0]).to.include({
      subject: "x ***",
      dataJson: '{"list":["***"],"***":1,"__proto__":{"b":2}}',
    });
    expect(problemOf('{"type":"a","data":{"pin":12345678}}', ["12345678"])).to.include("cannot be masked");
    expect(problemOf(`{"type":"${SECRET}"}`, [SECRET])).to.include("cannot be masked");
  });

  it("are at most as many as a run may have, from the first 8 MiB of the file", () => {
    const many = read('{"type":"a"}\n'.repeat(10_001));
    expect(many.events).to.have.length(10_000);
    expect(many.problems).to.deep.equal([{ line: 0, text: "only its first 10000 events are sent" }]);
    const line = `{"type":"a","data":{"b":"${"x".repeat(60_000)}"}}\n`;
    const large = read(line.repeat(200));
    expect(large.events).to.have.length(Math.floor(8_388_608 / line.length));
    expect(large.problems).to.deep.equal([{ line: 0, text: "it is read up to 8388608 bytes" }]);
  });
});
