/** The package that `npm pack` makes: its content, and whether it runs in an otherwise empty folder. */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { ProcessWorld } from "../support/processes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAX_PACKED_BYTES = 4_500_000;
const MAX_FILES = 700;
/** Paths that the package may hold. */
const ALLOWED = [
  /^(LICENSE|README\.md|CHANGELOG\.md|package\.json)$/,
  /^dist\/src\/[\w-]+\.js(\.map)?$/,
  /^examples\/hello\/(package\.json|(\.millrace\/)?pipeline\.yaml|(src|bin|test)\/[\w.-]+\.js)$/,
  /^scripts\/redis-server\.mjs$/,
  /^dist\/web\/(index\.html|assets\/[\w.-]+\.(js|css|svg|woff2))(\.(br|gz))?$/,
];
/** Tokens that the program issues, and private keys. */
const SECRET = /mrt_tok_[0-9A-Z]{26}_[0-9a-f]{64}|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const FREE_PORTS = {
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
  MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
};

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

describe("the package of npm pack", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  let packed: Packed;
  /** The folder that the package is installed into. */
  let folder: string;

  before(async () => {
    world = await ProcessWorld.create();
    folder = join(world.folder, "empty");
    await mkdir(folder);
    // The build that runs before the packing writes to standard output too.
    const { stdout } = await npm(["pack", "--json", "--pack-destination", world.folder], ROOT);
    [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [Packed];
    const tarball = join(world.folder, packed.filename);
    const options = ["--prefer-offline", "--no-audit", "--no-fund", "--omit=dev"];
    await npm(["install", ...options, "--prefix", folder, tarball], folder);
  });
  after(() => world?.end());

  /**
   * Runs a program in the folder of the installation, with an empty home folder and without the program's own
   * variables.
   */
  async function run(program: string, args: readonly string[], PATH = process.env["PATH"]!) {
    const home = await mkdtemp(join(world.folder, "home-"));
    // Settings with which pip reaches its package index, when this machine has such settings.
    const network = Object.entries(process.env).filter(([name]) => /^PIP_|_proxy$/i.test(name));
    const child = spawn(program, args, {
      cwd: folder,
      env: {
        ...Object.fromEntries(network),
        ...FREE_PORTS,
        PATH,
        HOME: home,
        TMPDIR: world.folder,
        MILLRACE_TEST_WORLD: world.folder,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
    return { code, output, home };
  }

  it("holds only the compiled program and the sample", async () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !ALLOWED.some((pattern) => pattern.test(path)))).to.deep.equal([]);
    for (const needed of ["dist/src/main.js", "examples/hello/pipeline.yaml", "README.md", "LICENSE"]) {
      expect(paths).to.include(needed);
    }
    expect(packed.files.find(({ path }) => path === "dist/src/main.js")!.mode, "is executable").to.equal(0o755);
    expect(packed.size).to.be.below(MAX_PACKED_BYTES);
    expect(paths.length).to.be.below(MAX_FILES);
  });

  it("holds each file that its files name, no output of an earlier build, and no secret", async () => {
    const installed = join(folder, "node_modules", "millrace");
    const outputs = new Set<string>();
    const named = new Set(["main.js", "launcher-main.js", "checkout-main.js", "thread-main.js", "search-main.js"]);
    for (const { path } of packed.files) {
      const text = await readFile(join(installed, path), "utf8");
      expect(SECRET.test(text), path).to.equal(false);
      if (!/^dist\/src\/.*\.js$/.test(path)) continue;
      outputs.add(basename(path));
      for (const [, name] of text.matchAll(/(?:from|import|import\()\s*"\.\/([\w-]+\.js)"/g)) named.add(name!);
    }
    expect([...outputs]).to.have.members([...named]);
  });

  it("names the sources in an error trace when source maps are enabled", async () => {
    const broken = "data:text/javascript,process.stdout.write = () => { throw new Error('the screen is broken') }";
    const main = join(folder, "node_modules/millrace/dist/src/main.js");
    const { code, output } = await run(process.execPath, ["--enable-source-maps", "--import", broken, main, "schema"]);
    expect(code, output).to.equal(1);
    expect(output).to.match(/the screen is broken[^]*at .*src\/cli\/commands\/schema\.ts:\d+/);
  });

  it("says what it tried and what to do when no Redis server is available", async () => {
    const bin = join(world.folder, "bin");
    await mkdir(bin);
    await symlink(process.execPath, join(bin, "node"));
    const { code, output } = await run(join(folder, "node_modules/.bin/millrace"), ["start", "--once"], bin);
    expect(code, output).to.equal(1);
    expect(output).to.include("no Redis server could be found or fetched. Tried:");
    expect(output).to.include("valkey-server and redis-server on PATH: none");
    expect(output).to.include("set REDIS_URL to a Redis that runs elsewhere");
  });

  it("starts an installation, runs the sample to success, and leaves no process", async () => {
    const { code, output, home } = await run(join(folder, "node_modules/.bin/millrace"), ["start", "--once"]);
    expect(code, output).to.equal(0);
    expect(output).to.include("✔ hello  success");
    expect(output).to.include(join(home, ".local/share/millrace"));
    expect(await world.alive()).to.deep.equal([]);
  });
});

function npm(args: readonly string[], cwd: string) {
  return promisify(execFile)("npm", args, { cwd, maxBuffer: 16 * 2 ** 20 });
}
