import { expect } from "chai";
import { gzipSync } from "node:zlib";
import { MillraceError } from "../../src/domain/errors.ts";
import { PLUGIN_BOUNDS } from "../../src/domain/plugins.ts";
import { type PluginFile, readPackage, writePackage } from "../../src/plugins/package.ts";
import { fileOf, greeter, rawPackage } from "../support/plugin-packages.ts";

const MANIFEST = { name: "plugin.yaml", text: "{ name: a, version: 1.0.0, actions: { b: { command: [sh] } } }" };

async function filesIn(packed: Uint8Array): Promise<readonly PluginFile[]> {
  const files: PluginFile[] = [];
  await readPackage(packed, async (file) => void files.push(file));
  return files;
}

async function refusal(packed: Uint8Array): Promise<MillraceError> {
  const error = await readPackage(packed, async () => {}).catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(MillraceError);
  return error as MillraceError;
}

describe("a plugin's package", () => {
  it("has its files with their modes, and its manifest", async () => {
    const files = [...greeter("1.0.0"), fileOf("data/ü.bin", Buffer.alloc(300_000, 7)), fileOf("empty", "")];
    const packed = await writePackage(files);
    const manifest = await readPackage(packed, async () => {});
    expect(manifest).to.include({ name: "team/greet", version: "1.0.0" });
    const read = await filesIn(packed);
    expect(read.map(({ path, executable }) => [path, executable])).to.deep.equal([
      ["bin/greet.sh", true],
      ["data/ü.bin", false],
      ["empty", false],
      ["plugin.yaml", false],
    ]);
    for (const { path, content } of files) {
      expect(Buffer.compare(read.find((file) => file.path === path)!.content, content), path).to.equal(0);
    }
  });

  it("has the same bytes for the same files", async () => {
    const files = greeter("1.0.0");
    expect(Buffer.compare(await writePackage(files), await writePackage(files.toReversed()))).to.equal(0);
  });

  it("can be made by `tar`", async () => {
    const entries = [
      { name: "./", type: "directory" as const },
      { ...MANIFEST, name: "./plugin.yaml" },
      { name: "./a/", type: "directory" as const },
      { name: "./a/b", text: "b" },
    ];
    expect((await filesIn(await rawPackage(entries))).map(({ path }) => path)).to.deep.equal(["plugin.yaml", "a/b"]);
  });

  for (const [what, entries, message] of [
    ["a path out of it", [{ name: "../x", text: "x" }], '"../x" is not a path within the plugin'],
    ["an absolute path", [{ name: "/etc/x", text: "x" }], '"/etc/x" is not a path within the plugin'],
    ["a path with `..`", [{ name: "a/../../x", text: "x" }], "is not a path within the plugin"],
    ["a folder out of it", [{ name: "../x/", type: "directory" }], "is not a path within the plugin"],
    ["a symbolic link", [{ name: "x", type: "symlink", linkname: "/etc/passwd" }], '"x" is a symlink'],
    ["a link", [{ name: "x", type: "link", linkname: "plugin.yaml" }], '"x" is a link'],
    ["a pipe", [{ name: "x", type: "fifo" }], '"x" is a fifo'],
    [
      "a file twice",
      [
        { name: "a", text: "1" },
        { name: "./a", text: "2" },
      ],
      'it has "a" twice',
    ],
    [
      "a file within a file",
      [
        { name: "a", text: "1" },
        { name: "a/b", text: "2" },
      ],
      '"a" is a file and a folder',
    ],
    [
      "a folder that becomes a file",
      [
        { name: "a/b", text: "1" },
        { name: "a", text: "2" },
      ],
      'it has "a" twice',
    ],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const error = await refusal(await rawPackage([MANIFEST, ...entries]));
      expect(error.reason).to.equal("malformed_request");
      expect(error.message).to.include(message);
    });
  }

  it("is refused with too many files or bytes, long before all of it is unpacked", async () => {
    const many = Array.from({ length: PLUGIN_BOUNDS.files + 1 }, (_, at) => ({ name: `f${at}`, text: "" }));
    expect((await refusal(await rawPackage([MANIFEST, ...many]))).reason).to.equal("too_large");
    const block = Buffer.alloc(1024 * 1024);
    const bomb = gzipSync(Buffer.concat(Array.from({ length: 200 }, () => block)));
    expect(bomb.length).to.be.lessThan(1024 * 1024);
    expect((await refusal(bomb)).message).to.match(/more|in all|tar/);
    const large = await rawPackage([MANIFEST, { name: "large", text: "x".repeat(PLUGIN_BOUNDS.unpackedBytes) }]);
    expect((await refusal(large)).reason).to.equal("too_large");
    expect((await refusal(new Uint8Array(PLUGIN_BOUNDS.packedBytes + 1))).reason).to.equal("too_large");
  }).timeout(30_000);

  it("is refused when it is cut off, is not a gzipped tar, or lacks its manifest", async () => {
    const whole = await writePackage(greeter("1.0.0"));
    for (const packed of [
      whole.subarray(0, whole.length - 30),
      Buffer.from("no package"),
      gzipSync("no tar, but long enough for one".repeat(100)),
      new Uint8Array(),
    ]) {
      const error = await refusal(packed);
      expect(error.reason, error.message).to.equal("malformed_request");
    }
    expect((await refusal(await rawPackage([{ name: "a/plugin.yaml", text: "" }]))).message).to.include(
      "no plugin.yaml at its root",
    );
  });

  it("is refused with every problem of its manifest, and for a command whose file is missing", async () => {
    const bad = await refusal(await rawPackage([{ name: "plugin.yaml", text: "{ name: a, actions: { b: {} } }" }]));
    expect(bad.problems.map(({ message }) => message)).to.deep.equal([
      "plugin.yaml:1:1: `version` is required",
      "plugin.yaml:1:23: `actions.b.command` is required",
    ]);
    const text = "{ name: a, version: 1.0.0, actions: { b: { command: [sh, ./gone.sh] } } }";
    expect((await refusal(await rawPackage([{ name: "plugin.yaml", text }]))).message).to.include(
      '"./gone.sh", which is not a file',
    );
  });
});
