/**
 * `npm run test:api`: schemathesis reads the description of the API from an installation on loopback, and calls every
 * operation with good and with bad values. The run fails for an answer with a status of 500 or more, and for a status,
 * a type or a body that the description does not have. It reports, and does not fail for, good data that is refused and
 * bad data that is accepted. Further arguments go to schemathesis.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { Api } from "../../bench/millrace/api.ts";
import { ProcessWorld } from "../support/processes.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const VERSION = "4.32.0";
const ENVIRONMENT = fileURLToPath(
  new URL(`../../node_modules/.cache/millrace/schemathesis-${VERSION}`, import.meta.url),
);
const TOKEN = "an-administrator-token-for-schemathesis";
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  // Fails for nothing: data_acceptance.py
  "data_acceptance",
];
/**
 * An upgrade to WebSocket is no call; an event stream does not end; a login that is refused as one of too many waits for seconds; and the tool makes no
 * packages.
 */
const LEFT_OUT = ["openWebSocket", "login", "pushPlugin", "followRun", "followRuns", "followAgents"];
const MAX_SECONDS = 80;
const REPORT = "data-acceptance.ndjson";
const REPORTED = {
  refused: "Good data that is refused, although the description allows it",
  accepted: "Bad data that is accepted, although the description forbids it",
} as const;

/** A call that data_acceptance.py has noted. */
interface Noted {
  readonly kind: keyof typeof REPORTED;
  readonly operation: string;
  readonly status: number;
  /** The message of the refusal, or what is wrong with the data that was accepted. */
  readonly what: string;
}

await installTool();
const world = await ProcessWorld.create();
try {
  const node = await world.serve("edge,gateway,worker", { env: { MILLRACE_BOOTSTRAP_TOKEN: TOKEN } });
  await makeObjects(`http://${node.http!}`);
  const tool = spawn(join(ENVIRONMENT, "bin", "schemathesis"), argumentsFor(`http://${node.http!}`), {
    stdio: "inherit",
    cwd: world.folder,
    env: {
      ...process.env,
      PYTHONPATH: FOLDER,
      PYTHONDONTWRITEBYTECODE: "1",
      SCHEMATHESIS_HOOKS: "hooks",
      DATA_ACCEPTANCE_REPORT: join(world.folder, REPORT),
    },
  });
  const [code] = (await once(tool, "exit")) as [number | null];
  process.stdout.write(dataAcceptance(await readFile(join(world.folder, REPORT), "utf8").catch(() => "")));
  if (!node.process.running) process.stderr.write(`the control plane has ended:\n${node.process.stderr}\n`);
  process.exitCode = node.process.running ? (code ?? 1) : 1;
} finally {
  await world.end();
}

function argumentsFor(url: string): readonly string[] {
  return [
    "run",
    `${url}/api/v1/openapi.json`,
    `--url=${url}`,
    `--header=Authorization: Bearer ${TOKEN}`,
    `--checks=${CHECKS.join(",")}`,
    ...LEFT_OUT.map((name) => `--exclude-operation-id=${name}`),
    "--phases=coverage,fuzzing",
    `--max-time=${MAX_SECONDS}`,
    "--max-examples=30",
    "--warnings=off",
    "--request-timeout=30",
    "--continue-on-failure",
    "--no-color",
    ...process.argv.slice(2),
  ];
}

/** The report: a line for each operation and status, with the first case. */
function dataAcceptance(report: string): string {
  const noted = report
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Noted);
  const lines = Object.entries(REPORTED).flatMap(([kind, title]) => {
    const cases = noted.filter((one) => one.kind === kind);
    const byPlace = new Map<string, Noted[]>();
    for (const one of cases) {
      const place = `${one.operation}: ${one.status}`;
      byPlace.set(place, [...(byPlace.get(place) ?? []), one]);
    }
    const places = [...byPlace].map(
      ([place, [first, ...others]]) =>
        `  ${place}, ${1 + others.length} calls, such as: ${first!.what.replaceAll(/\s+/g, " ").slice(0, 160)}`,
    );
    return [`${title}: ${cases.length} calls (reported, not required)`, ...places.sort()];
  });
  return `\n${lines.join("\n")}\n`;
}

/** A pipeline with a definition and a run: calls with ids that exist are made by hand in the other tests. */
async function makeObjects(url: string): Promise<void> {
  const api = new Api(url, TOKEN);
  const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", { name: "described" });
  const spec = { jobs: [{ name: "job", steps: [{ name: "step", uses: "shell", args: { script: "true" } }] }] };
  await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
  await api.call("POST", `/pipelines/${pipelineId}/trigger`, {});
  api.close();
}

async function installTool(): Promise<void> {
  if (existsSync(join(ENVIRONMENT, "bin", "schemathesis"))) return;
  await mkdir(ENVIRONMENT, { recursive: true });
  const run = promisify(execFile);
  await run("python3", ["-m", "venv", ENVIRONMENT]);
  await run(join(ENVIRONMENT, "bin", "pip"), ["install", "--quiet", `schemathesis==${VERSION}`]);
}
