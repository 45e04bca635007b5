/**
 * docs/diagnostics.md: a section for each code, with a bad example, the output of the command line for it, and a good
 * example. The output follows from the bad example; `npm run generate` writes it.
 */
import { asDiagnostic, renderDiagnostics } from "../../src/cli/diagnostics.ts";
import type { Diagnostic } from "../../src/definition/text/diagnostics.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import type { Includes } from "../../src/definition/include/included-files.ts";
import type { Format } from "../../src/definition/text/read-text.ts";
import { LIMITS } from "../../src/definition/schema/limits.ts";
import { asId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import { SNAPSHOT_BYTES } from "../../src/stores/mongo/packed-snapshots.ts";
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
  /** True when only the planner finds the problem. The example is then triggered by hand, without variables. */
  readonly isPlanned: boolean;
  /** True when the example is too long for the page; the page describes the example in words. */
  readonly isGenerated: boolean;
}

const job = (name: string) =>
  `jobs:\n  - name: ${name}\n    steps:\n      - uses: shell\n        args: { script: make ${name} }\n`;

/** What the examples may include. */
const INCLUDES: Includes = {
  path: ".millrace/pipeline.yaml",
  files: [
    { path: ".millrace/templates/lint.yaml", text: job("lint") },
    { path: ".millrace/templates/a.yaml", text: "include:\n  - .millrace/templates/b.yaml\n" },
    { path: ".millrace/templates/b.yaml", text: "include:\n  - .millrace/templates/a.yaml\n" },
    ...Array.from({ length: LIMITS.includeDepth + 1 }, (_, at) => ({
      path: `.millrace/deep/${at + 1}.yaml`,
      text: `include:\n  - .millrace/deep/${at + 2}.yaml\n`,
    })),
  ],
};

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
  "snapshot-limit": {
    make: () => {
      const axis = Array.from({ length: 1_000 }, (_, at) => at).join(", ");
      const job = (name: string) =>
        `{ name: ${name}, matrix: { axes: { n: [${axis}] } }, concurrency: { group: g }, steps: [${STEP}] }`;
      return `jobs: [${["a", "b", "c", "d", "e"].map(job).join(", ")}]`;
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

/** The hooks of the project in the section about them. */
const HOOKS = [{ kind: "github", secret: "HOOK_KEY" }];

/** All diagnostics of a section's example, with the registry of {@link knownPlugins}. */
export function diagnose(
  code: string,
  { text, format, isPlanned }: Omit<BadExample, "isGenerated">,
): readonly Diagnostic[] {
  const lookup = code === "" ? undefined : knownPlugins();
  const hooks = code === "no-hook" ? HOOKS : undefined;
  const { definition, diagnostics } = parseDefinition(text, format, { lookup, hooks, includes: INCLUDES });
  if (!isPlanned || definition === undefined) return diagnostics;
  const planned = dryRun({
    definition,
    trigger: { kind: "manual", ref: "main", payload: {} },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "example",
    projectId: asId<ProjectId>("default"),
    repoUrl: null,
    snapshotBytes: SNAPSHOT_BYTES,
    demandsContainers: code === "container-required",
  });
  return [...diagnostics, ...(planned.ok ? planned.plan.warnings : planned.problems.map(asDiagnostic))];
}

/** The page, with the output that its examples give now. */
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

/**
 * The printed diagnostics of an example. For a generated example: only those with the section's code, and without the
 * example's text.
 */
function print(code: string, bad: BadExample): string {
  const shown = diagnose(code, bad).filter((diagnostic) => !bad.isGenerated || diagnostic.code === code);
  const parsed = { file: `pipeline.${bad.format}`, text: bad.isGenerated ? "" : bad.text, includes: INCLUDES };
  const lines = renderDiagnostics(parsed, shown, (_, text) => text);
  return lines.join("\n");
}
