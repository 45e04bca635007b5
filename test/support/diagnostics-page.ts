/**
 * docs/diagnostics.md: a section for each code, with a bad example, what the command line prints of it, and a good one.
 * What is printed follows from the example, and is written by `npm run generate`.
 */
import { asDiagnostic, renderDiagnostics } from "../../src/cli/diagnostics.ts";
import type { Diagnostic } from "../../src/definition/text/diagnostics.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import type { Format } from "../../src/definition/text/read-text.ts";
import { LIMITS } from "../../src/definition/schema/limits.ts";
import { asId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { knownPlugins } from "./known-plugins.ts";

export interface Section {
  readonly code: string;
  readonly bad: BadExample;
  readonly good: string;
}

export interface BadExample {
  readonly text: string;
  readonly format: Format;
  /** What is only found once a run is planned; it is triggered by hand, with nothing given. */
  readonly isPlanned: boolean;
  /** Too long for the page, which says in words what it is. */
  readonly isGenerated: boolean;
}

const STEP = "{ uses: shell, args: { script: make } }";

const GENERATED: Readonly<Record<string, { readonly make: () => string; readonly isPlanned?: true }>> = {
  "diagnostic-limit": {
    make: () => `${Array.from({ length: LIMITS.diagnostics + 1 }, (_, at) => `key${at}: 1\n`).join("")}`,
  },
  "plan-limit": {
    make: () => {
      const axis = Array.from({ length: 1_000 }, (_, at) => at).join(", ");
      const script = "x".repeat(40_000);
      return `jobs: [{ name: a, matrix: { axes: { n: [${axis}] } }, steps: [{ uses: shell, args: { script: ${script} } }] }]`;
    },
    isPlanned: true,
  },
  "size-limit": {
    make: () => {
      const definition = `jobs: [{ name: build, steps: [${STEP}] }]\n#`;
      return definition + "x".repeat(LIMITS.textBytes + 1 - definition.length);
    },
  },
};

const SECTION = /^## (?<code>\S+)\n(?<body>.*?)(?=^## |$(?![^]))/gms;
const BAD = /```(?<format>yaml|json) bad(?<planned> planned)?\n(?<text>.*?\n)```\n/s;
const GOOD = /```yaml good\n(?<text>.*?\n)```\n/s;
const PRINTED = /(?<=```text\n).*?(?=\n```\n)/s;

/** The sections in the order of the page. Throws for one that lacks an example. */
export function readSections(page: string): readonly Section[] {
  return [...page.matchAll(SECTION)].map(({ groups }) => {
    const { code, body } = groups as { code: string; body: string };
    const good = GOOD.exec(body)?.groups?.["text"];
    if (good === undefined || !PRINTED.test(body)) throw new Error(`the section of ${code} lacks an example`);
    return { code, bad: readBad(code, body), good };
  });
}

/** All that is told of an example of a section, with the registry of {@link knownPlugins}; of what is not run yet only where that is what the section is about. */
export function diagnose(
  code: string,
  { text, format, isPlanned }: Omit<BadExample, "isGenerated">,
): readonly Diagnostic[] {
  const plugins = code === "" ? undefined : knownPlugins();
  const { definition, diagnostics } = parseDefinition(text, format, plugins);
  const told = diagnostics.filter((each) => code === "not-run-yet" || each.code !== "not-run-yet");
  if (!isPlanned || definition === undefined) return told;
  const planned = dryRun({
    definition,
    trigger: { kind: "manual", ref: "main", payload: {} },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "example",
    projectId: asId<ProjectId>("default"),
    repoUrl: null,
  });
  return [...told, ...(planned.ok ? planned.plan.warnings : planned.problems.map(asDiagnostic))];
}

/** The page with what is printed of its examples now. */
export function deriveDiagnosticsPage(page: string): string {
  return page.replaceAll(SECTION, (section, code: string, body: string) =>
    section.replace(PRINTED, () => print(code, readBad(code, body))),
  );
}

function readBad(code: string, body: string): BadExample {
  const { format, planned, text } = BAD.exec(body)?.groups ?? {};
  if (text !== undefined) {
    return { text, format: format as Format, isPlanned: planned !== undefined, isGenerated: false };
  }
  const generated = GENERATED[code];
  if (generated === undefined) throw new Error(`the section of ${code} has no bad example`);
  return { text: generated.make(), format: "yaml", isPlanned: generated.isPlanned ?? false, isGenerated: true };
}

/** Of what is generated, what the section is about alone, and without its text. */
function print(code: string, bad: BadExample): string {
  const told = diagnose(code, bad).filter((each) => !bad.isGenerated || each.code === code);
  const lines = renderDiagnostics(`pipeline.${bad.format}`, bad.isGenerated ? "" : bad.text, told, (_, text) => text);
  return lines.join("\n");
}
