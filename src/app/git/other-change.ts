/** What another user has changed in a definition since a caller read it, for the caller who comes too late. */
import { createTwoFilesPatch } from "diff";
import type { Problem } from "../../domain/errors.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import type { CommitFacts } from "../../git/objects.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { rfc3339 } from "../times.ts";
import { type DefinitionAt, lackOf } from "./definition-at.ts";
import type { OpenRepository } from "./repository.ts";

/** Lines that may differ; the work grows with the square of it. */
const MAX_CHANGED_LINES = 500;
const MAX_CHARS = 8_000;

/**
 * Who changed the file last, when and with which subject, and how the text differs from that of the commit `expected`. What
 * cannot be found out now is left out: the error is told all the same.
 */
export async function changeOfOther(
  { engine, repository }: OpenRepository,
  pipeline: Pipeline,
  { commit, revision }: DefinitionAt,
  expected: string,
): Promise<readonly Problem[]> {
  const { defaultBranch, pipelineFilePath: path } = pipeline;
  const last = await engine.lastChange(repository, defaultBranch, path).catch(() => undefined);
  const who = { code: "other_change", pointer: "", message: described(last ?? commit) };
  if (!FULL_COMMIT.test(expected)) return [who];
  const ref = { kind: "commit", id: expected } as const;
  const before = await engine.read(repository, { ref, path }).catch(() => undefined);
  if (before === undefined) return [who];
  const { file } = before;
  const old = file.kind === "file" && lackOf(file, pipeline) === "" ? file.content.toString("utf8") : "";
  const diff = differenceOf(`${path} ${expected}`, old, `${path} ${commit.id}`, revision?.text ?? "");
  return diff === undefined ? [who] : [who, { code: "other_diff", pointer: "/spec", message: diff }];
}

function described({ id, author, authoredAt, message }: CommitFacts): string {
  const subject = message.split("\n", 1)[0]!;
  return `${author.name} <${author.email}> at ${rfc3339(authoredAt)}: ${subject} (${id})`;
}

/** A unified diff; empty when the texts are equal, undefined for one that is too long. */
function differenceOf(fromName: string, from: string, toName: string, to: string): string | undefined {
  if (from === to) return "";
  const options = {
    maxEditLength: MAX_CHANGED_LINES,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  };
  const diff = createTwoFilesPatch(fromName, toName, from, to, undefined, undefined, options);
  return diff === undefined || diff.length > MAX_CHARS ? undefined : diff;
}
