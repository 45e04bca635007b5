/** `millrace plan FILE`: a dry run of a definition, on this machine or on a control plane with its agents. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { viewPlan } from "../../app/triggering/plan-view.ts";
import type { Definition } from "../../definition/definition.ts";
import type { Diagnostic } from "../../definition/text/diagnostics.ts";
import { parseDefinition } from "../../definition/parse.ts";
import type { Format } from "../../definition/text/read-text.ts";
import { asId } from "../../domain/ids.ts";
import { dryRun, type DryRunResult } from "../../planner/dry-run.ts";
import type { TriggerContext } from "../../planner/plan-contexts.ts";
import { UsageError } from "../command-line.ts";
import { asDiagnostic, countProblems, renderDiagnostics } from "../diagnostics.ts";
import { EXIT } from "../exit-codes.ts";
import { renderPlan } from "../plan-tree.ts";
import { type DefinitionText, readDefinitionText } from "../read-definition.ts";
import { paintFor, printable } from "../screen.ts";
import { parseVariables } from "../variables.ts";

export interface PlanOptions {
  readonly trigger: TriggerContext["kind"];
  readonly ref?: string;
  /** The path of a JSON file. */
  readonly payload?: string;
  /** `name=value` texts. */
  readonly var: readonly string[];
  /** `NAME=ID` texts. */
  readonly upload: readonly string[];
  /** Name of the pipeline. */
  readonly pipeline?: string;
  /** The format of standard input. */
  readonly format?: Format;
  readonly json?: boolean;
  /** URL of a control plane; goes with `pipelineId`. */
  readonly server?: string;
  readonly pipelineId?: string;
}

/** The trigger and variables to plan with. */
interface PlanRequest {
  readonly trigger: { readonly kind: PlanOptions["trigger"]; readonly ref?: string; readonly payload: Payload };
  readonly variables: Readonly<Record<string, string>>;
  readonly uploads?: Readonly<Record<string, string>>;
}
type Payload = TriggerContext["payload"];

/**
 * Resolves with 1 when the definition or the plan has an error, else with 0. Problems go to stderr, the plan to stdout. With
 * `server`, that control plane makes the plan, with its agents and with the name and default branch of its pipeline; the
 * token is in MILLRACE_TOKEN.
 */
export async function plan(path: string, options: PlanOptions): Promise<number> {
  const remote = readRemote(options);
  const request = await readPlanRequest(options);
  const read = await readDefinitionText(path, options.format);
  const { definition, diagnostics } = parseDefinition(read.text, read.format, { includes: read.includes });
  const name = options.pipeline ?? basename(read.file);
  if (definition === undefined) return fail(read, diagnostics);
  let view: Schemas["Plan"];
  if (remote === null) {
    const planned = planLocally(definition, request, name);
    if (!planned.ok && planned.fault === "trigger") {
      throw new UsageError(planned.problems.map(({ message }) => `--var: ${message}`).join("\n"));
    }
    if (!planned.ok) return fail(read, [...diagnostics, ...planned.problems.map(asDiagnostic)]);
    printDiagnostics(read, [...diagnostics, ...planned.plan.warnings]);
    view = viewPlan(planned.plan, null);
  } else {
    printDiagnostics(read, diagnostics);
    view = await planRemotely(remote, definition.source.value, read.format, request);
  }
  const { isTTY, columns } = process.stdout;
  const shown =
    options.json === true
      ? [JSON.stringify(view, null, 2)]
      : renderPlan(view, { name, paint: paintFor(process.stdout), columns: isTTY ? columns : undefined });
  process.stdout.write(shown.map((line) => `${line}\n`).join(""));
  return EXIT.ok;
}

function planLocally(
  definition: Definition,
  { trigger: { kind, ref, payload }, variables }: PlanRequest,
  pipelineName: string,
): DryRunResult {
  return dryRun({
    definition,
    trigger: { kind, ref: ref ?? variables["ref"] ?? "", payload },
    variables: Object.entries(variables),
    pipelineId: asId(""),
    pipelineName,
    projectId: asId("default"),
    repoUrl: null,
  });
}

interface Remote {
  readonly baseUrl: string;
  readonly pipelineId: string;
  readonly token: string;
}

/** `spec`: with what it includes, so that the pipeline of the control plane need not be in the repository of this machine. */
async function planRemotely(
  remote: Remote,
  spec: unknown,
  format: Format,
  request: PlanRequest,
): Promise<Schemas["Plan"]> {
  const { ApiClient } = await import("../api-client.ts");
  const api = new ApiClient({ baseUrl: remote.baseUrl, token: () => Promise.resolve(remote.token) });
  const view = await api.plan(remote.pipelineId, {
    spec: spec as Readonly<Record<string, unknown>>,
    format,
    ...request,
  });
  // The server's lines and columns are those of the text that it would commit. The user does not see that text, so warnings
  // show pointers.
  const warnings = view.warnings.map(({ message, pointer, code }) => `warning: ${pointer} ${message} [${code}]\n`);
  const unset = view.secrets.filter(({ isSet }) => isSet === false).map(({ name }) => name);
  for (const name of unset) warnings.push(`warning: the secret ${name} is not set for this pipeline or its project\n`);
  process.stderr.write(warnings.join(""));
  return view;
}

function readRemote({ server, pipelineId }: PlanOptions): Remote | null {
  if (server === undefined && pipelineId === undefined) return null;
  if (server === undefined || pipelineId === undefined) {
    throw new UsageError(
      "--server and --pipeline-id must be given together: they name a pipeline and its control plane",
    );
  }
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new UsageError(`--server ${server}: must be a URL such as http://127.0.0.1:8080`);
  }
  const token = process.env["MILLRACE_TOKEN"] ?? "";
  if (token === "") throw new UsageError("--server needs a token of the control plane in MILLRACE_TOKEN");
  return { baseUrl: server.replace(/\/+$/, ""), pipelineId, token };
}

async function readPlanRequest(options: PlanOptions): Promise<PlanRequest> {
  const { trigger: kind, ref, payload: file, var: texts, upload, server } = options;
  if (upload.length > 0 && server === undefined) {
    throw new UsageError("--upload names what a control plane has: it needs --server and --pipeline-id");
  }
  const payload = file === undefined ? {} : await readPayload(file);
  return {
    trigger: { kind, ...(ref === undefined ? {} : { ref }), payload },
    variables: parseVariables(texts),
    ...(upload.length > 0 && { uploads: Object.fromEntries(upload.map(uploadOf)) }),
  };
}

function uploadOf(text: string): readonly [name: string, uploadId: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--upload ${text}: must be NAME=ID`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function readPayload(file: string): Promise<Payload> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Payload;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`--payload ${file}: ${code ?? printable(message)}`);
  }
  throw new UsageError(`--payload ${file}: must be a JSON object`);
}

function fail(read: DefinitionText, diagnostics: readonly Diagnostic[]): number {
  printDiagnostics(read, diagnostics);
  return EXIT.failure;
}

function printDiagnostics(read: DefinitionText, diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length === 0) return;
  const lines = renderDiagnostics(read, diagnostics, paintFor(process.stderr));
  process.stderr.write(`${lines.join("\n")}\n${countProblems(diagnostics)}\n`);
}
