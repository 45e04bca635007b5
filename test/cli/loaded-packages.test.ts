/**
 * Which packages a command loads. A start spends most of its time on loading, so a command loads only what it uses. The
 * test counts packages and no time.
 */
import { expect } from "chai";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ScriptedServer, succeed } from "../support/scripted-server.ts";
import { ProcessWorld } from "../support/processes.ts";

const HELLO = "examples/hello/pipeline.yaml";
const OF_DEFINITIONS = ["@actions/expressions", "commander", "croner", "yaml", "zod"];
const LARGE_FILE_BYTES = 300_000;
const OF_NODES = ["@koa/router", "ajv", "bullmq", "ioredis", "jose", "koa", "mongodb", "prom-client", "ws"];

describe("a command of the compiled program", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => (world = await ProcessWorld.create()));
  after(() => world.end());

  /** The packages whose code the process loads, whether in a file of the program or in one of their own. */
  async function packagesOf(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<readonly string[]> {
    const folder = join(world.folder, `loaded-${args[0]}`);
    const command = world.start(args, { env: { NODE_V8_COVERAGE: folder, XDG_CONFIG_HOME: world.folder, ...env } });
    expect(await command.exited, command.stderr).to.deep.equal({ code: 0, signal: null });
    return packagesIn(folder);
  }

  /** Those of a process that wrote its coverage into the folder. */
  async function packagesIn(folder: string): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const name of await readdir(folder)) {
      const { result } = JSON.parse(await readFile(join(folder, name), "utf8")) as { result: { url: string }[] };
      for (const { url } of result.filter((script) => script.url.startsWith("file:"))) {
        const path = fileURLToPath(url);
        const modules = path.includes("/node_modules/") ? [path] : await sourcesOf(path);
        for (const module of modules) {
          const [, name] = /\/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//.exec(module) ?? [];
          if (name !== undefined) found.add(name);
        }
      }
    }
    return [...found].sort();
  }

  /** The modules whose code a file of the program holds. */
  async function sourcesOf(path: string): Promise<readonly string[]> {
    return (JSON.parse(await readFile(`${path}.map`, "utf8")) as { sources: string[] }).sources;
  }

  for (const [args, packages] of [
    [["--version"], ["commander"]],
    [["--help"], ["commander"]],
    [["contexts"], ["commander"]],
    [["schema"], OF_DEFINITIONS],
    [["validate", HELLO], OF_DEFINITIONS],
    [
      ["plan", HELLO],
      [...OF_DEFINITIONS, "ulid"],
    ],
  ] as const) {
    it(`${args.join(" ")} loads only the packages that it uses`, async () => {
      expect(await packagesOf(args)).to.deep.equal([...packages].sort());
    });
  }

  it("contexts, which calls no server, does not load the HTTP client of Node", async () => {
    const hook = join(world.folder, "loaded-modules.mjs");
    await writeFile(hook, 'process.on("exit", () => console.error(process.moduleLoadList.join("\\n")));');
    const env = { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`, XDG_CONFIG_HOME: world.folder };
    const command = world.start(["contexts"], { env });
    expect(await command.exited).to.deep.equal({ code: 0, signal: null });
    const modules = command.stderr.split("\n");
    expect(modules).to.include("NativeModule fs");
    expect(modules.filter((name) => /undici|http/.test(name))).to.deep.equal([]);
  });

  it("pipelines, which calls a server, loads only the packages that it uses", async () => {
    const server = await ScriptedServer.start();
    try {
      server.answer = (_, response) => succeed(response, { list: [], total: 0, page: 1, pageSize: 50, next: null });
      const packages = await packagesOf(["pipelines"], { MILLRACE_URL: server.url, MILLRACE_TOKEN: "mrt_x" });
      expect(packages).to.deep.equal(["commander"]);
      expect(server.calls.map(({ method }) => method)).to.deep.equal(["GET"]);
    } finally {
      await server.close();
    }
  });

  it("keeps its large files in ASCII, because one other character doubles the memory that Node takes for a file", async () => {
    const folder = join("dist", "src");
    const files = (await readdir(folder)).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(files.map(async (name) => ({ name, text: await readFile(join(folder, name)) })));
    const large = texts.filter(({ text }) => text.length >= LARGE_FILE_BYTES);
    expect(large).not.to.deep.equal([]);
    const isAscii = (text: Uint8Array) => text.every((byte) => byte < 0x80);
    expect(large.filter(({ text }) => !isAscii(text)).map(({ name }) => name)).to.deep.equal([]);
  });

  it("serve loads nothing that only nodes of other roles use", async () => {
    const folder = join(world.folder, "loaded-worker");
    const node = await world.serve("worker", { env: { NODE_V8_COVERAGE: folder } });
    node.kill("SIGTERM");
    await node.exited;
    const packages = await packagesIn(folder);
    expect(packages).to.include.members(["bullmq", "ioredis"]);
    expect(packages.filter((name) => ["@grpc/grpc-js", "@koa/router", "ws"].includes(name))).to.deep.equal([]);
  });

  it("asks for node:http by a call, because an import loads a library of 4 MB with it from Node 22 on", async () => {
    const folder = join("dist", "src");
    const files = (await readdir(folder)).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
    expect(texts.filter((text) => /require\("node:http"\)/.test(text))).not.to.deep.equal([]);
    expect(texts.flatMap((text) => text.match(/\bfrom ?"(node:)?http"/g) ?? [])).to.deep.equal([]);
  });

  it("agent loads nothing that only nodes of the control plane use", async () => {
    const packages = await packagesOf(["agent", "--gateway", "127.0.0.1:1", "--print-config"]);
    expect(packages).to.include.members(["@grpc/grpc-js", "pino"]);
    expect(packages.filter((name) => OF_NODES.includes(name))).to.deep.equal([]);
  });
});
