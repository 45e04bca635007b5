/**
 * The shell blocks of the pages that users read. The blocks of a page run in order in one bash, against an embedded
 * installation with an agent. Blocks that cannot run are listed with the reason, and only their syntax is checked.
 */
import { spawn } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { blocksOf, type CodeBlock, PAGES, readPage, ROOT } from "../support/pages.ts";
import { ProcessWorld, PROGRAM } from "../support/processes.ts";

/** The blocks that do not run: the page, the beginning of the first line, and the reason. */
const NOT_RUN: readonly (readonly [page: string, firstLine: string, reason: string])[] = [
  ["README.md", "npm start", "serves until Ctrl-C; test/cli/start.test.ts runs the command behind it"],
  ["README.md", "npm test", "would run this test again"],
  ["docs/operations.md", "docker compose up", "needs Docker; test/compose.test.ts checks the file"],
  ["docs/operations.md", "for collection in", "needs MongoDB's tools; test/e2e/dump.test.ts dumps in this order"],
  ["docs/operations.md", "mongorestore", "needs MongoDB's tools; test/e2e/dump.test.ts restores and repairs"],
  ["docs/operations.md", "npm run chaos", "takes half an hour; test/chaos has a short form"],
  [
    "docs/agent-protocol.md",
    "millrace agent-conformance",
    "needs another's agent; test/cli/agent-conformance.test.ts runs it",
  ],
  [
    "docs/git.md",
    "millrace pipelines discover",
    "needs a Git host; test/http/git-connecting.test.ts makes these calls",
  ],
  ["docs/git.md", "millrace pipelines webhook", "needs a Git host; test/http/host-hooks.test.ts makes these calls"],
  ["docs/git.md", "millrace secrets set-github-app", "needs GitHub; test/e2e/command-line.test.ts runs the command"],
  ["docs/git.md", "millrace secrets set", "needs a Git host; test/e2e/checkout.test.ts runs these commands"],
  ["bench/README.md", "npm run bench", "takes half an hour; test/bench checks its parts"],
  ["examples/python-agent/README.md", "cd examples/python-agent", "installs from PyPI; test/foreign runs the agent"],
];

/** A line that a reader replaces. The test sets the variable before the first block. */
const SET_BY_READER = /^export URL=.*$/gm;

/** The shell functions that docs/http-api.md defines for all pages. */
const SHARED_FUNCTIONS = blocksOf(readPage("docs/http-api.md"))
  .find(({ info }) => info === "sh")!
  .text.replaceAll(SET_BY_READER, "");

interface PageBlocks {
  readonly page: string;
  readonly runs: readonly CodeBlock[];
  readonly others: readonly CodeBlock[];
}

const pages = PAGES.map((page): PageBlocks => {
  const blocks = blocksOf(readPage(page)).filter(({ info }) => info === "sh");
  const isOther = ({ text }: CodeBlock) => NOT_RUN.some(([of, line]) => of === page && text.startsWith(line));
  return { page, runs: blocks.filter((block) => !isOther(block)), others: blocks.filter(isOther) };
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

describe("the shell blocks of the pages", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  let environment: Readonly<Record<string, string>>;

  before(async () => {
    world = await ProcessWorld.create();
    const installation = await EmbeddedInstallation.create(world);
    const dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    await installation.agent("reader");
    const { pipelineId } = await installation.api.createPipeline("of the reader", "");

    const bin = join(world.folder, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "millrace"), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    await chmod(join(bin, "millrace"), 0o755);

    const { PATH = "", REDIS_BINARY } = process.env;
    environment = {
      PATH: `${bin}:${PATH}`,
      HOME: world.folder,
      TMPDIR: world.folder,
      MILLRACE_TEST_WORLD: world.folder,
      ...(REDIS_BINARY === undefined ? {} : { REDIS_BINARY }),
      URL: `http://${installation.node.http}/api/v1`,
      TOKEN: installation.adminToken,
      PIPELINE: pipelineId,
      DATA_DIR: dataDir,
    };
  });
  after(() => world?.end());

  /** Makes a folder with the parts of a checkout that blocks read. What the blocks write stays out of the project. */
  async function checkout(name: string): Promise<string> {
    const folder = join(world.folder, name);
    await mkdir(folder);
    for (const part of ["examples", "node_modules", "package.json"])
      await symlink(join(ROOT, part), join(folder, part));
    return folder;
  }

  /** Runs bash. `output` is standard output and standard error together. */
  function bash(cwd: string, args: readonly string[], input: string): Promise<Ended> {
    const child = spawn("bash", args, { cwd, env: environment, stdio: ["pipe", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, output }));
    });
  }

  it("are all marked as `sh`", () => {
    const infos = PAGES.flatMap((page) => blocksOf(readPage(page)).map(({ info }) => info.split(" ")[0]));
    expect(["", "js", "json", "mermaid", "sh", "text", "yaml"]).to.include.members(infos);
  });

  it("are left out for a reason that is still needed", () => {
    const unused = NOT_RUN.filter(
      ([page, line]) =>
        !pages.some(({ page: of, others }) => of === page && others.some(({ text }) => text.startsWith(line))),
    );
    expect(unused).to.deep.equal([]);
  });

  it("are well-formed where they do not run", async () => {
    for (const { page, others } of pages) {
      for (const { line, text } of others) {
        const { code, output } = await bash(world.folder, ["-n"], text);
        expect(code, `${page}:${line}\n${output}`).to.equal(0);
      }
    }
  });

  for (const { page, runs } of pages) {
    if (runs.length === 0) continue;
    it(`run as they are written in ${page}`, async () => {
      const script = [
        "set -euo pipefail",
        SHARED_FUNCTIONS,
        // Standard input is the script itself, so no command may read it.
        ...runs.map(
          ({ line, text }) => `echo "### ${page}:${line}"\n{\n${text.replaceAll(SET_BY_READER, "")}} < /dev/null`,
        ),
        "echo '### all'",
      ].join("\n");
      const { code, output } = await bash(await checkout(page.replaceAll("/", "-")), ["-s"], script);
      const at = output.lastIndexOf("### ");
      expect([code, output.slice(at)], `after ${output.slice(Math.max(0, at - 2_000))}`).to.deep.equal([
        0,
        "### all\n",
      ]);
    });
  }
});
