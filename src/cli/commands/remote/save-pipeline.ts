/** `millrace pipelines save`: checks a definition and saves it. It loads the validator, which the other commands do without. */
import { basename } from "node:path";
import { parseDefinition } from "../../../definition/parse.ts";
import { textToSpec } from "../../../definition/edit/render.ts";
import { CommandFailure } from "../../command-line.ts";
import { renderDiagnostics } from "../../diagnostics.ts";
import { EXIT } from "../../exit-codes.ts";
import { readDefinitionText } from "../../read-definition.ts";
import { findPipeline } from "../../remote/find.ts";
import { withServer } from "../../remote/session.ts";
import { paintFor } from "../../screen.ts";
import type { PipelineOptions } from "./pipelines.ts";

export interface SaveOptions extends PipelineOptions {
  readonly message?: string;
  readonly format: "yaml" | "json";
  readonly head?: string;
  readonly saveMode?: "direct" | "pr";
}

/** Checks the definition here first, so that each problem is shown with its line. */
export function savePipeline(name: string, file: string, options: SaveOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const read = await readDefinitionText(file, options.format);
    const { text, format, file: shown, includes } = read;
    const { definition, diagnostics } = parseDefinition(text, format, { includes });
    // The branch, at which the server resolves what is included, may have files that this machine has not.
    const isWhole = includes?.files.every((each) => "text" in each) ?? true;
    if (isWhole) {
      if (definition === undefined && report.isJson) throw refused(shown, diagnostics);
      const lines = renderDiagnostics(read, diagnostics, paintFor(process.stderr));
      process.stderr.write(lines.map((line) => `${line}\n`).join(""));
      if (definition === undefined) return EXIT.failure;
    }
    const { pipelineId } = await findPipeline(client, name, options.project);
    const spec = textToSpec(text, format) as Readonly<Record<string, unknown>>;
    const commitMessage = options.message ?? `save ${basename(shown)}`;
    const path = { pipelineId };
    const expected = options.head === undefined ? {} : { expectedHeadCommitSha: options.head };
    const mode = options.saveMode === undefined ? {} : { saveMode: options.saveMode };
    const saved = await client.post("/pipelines/{pipelineId}/spec/save", {
      path,
      // With the text, its comments and layout are saved too.
      body: { spec, format, layout: text, commitMessage, ...expected, ...mode },
      signal,
    });
    report.object(saved, `saved ${name} as ${saved.headCommitSha}`);
    return EXIT.ok;
  });
}

/** For programs, with the members that the server's own answer has. */
function refused(file: string, diagnostics: ReturnType<typeof parseDefinition>["diagnostics"]): CommandFailure {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const problems = errors.map(({ code, pointer, message, line, column }) => ({ code, pointer, message, line, column }));
  return new CommandFailure(`${file}: ${errors.map(({ message }) => message).join("; ")}`, EXIT.failure, {
    next: "`millrace validate FILE` shows each problem with its place",
    machine: { reason: "invalid_definition", problems },
  });
}
