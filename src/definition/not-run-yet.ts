/**
 * Parts of the language that this version does not run yet. The validator warns of them. A run of a definition is refused when it
 * would do something else than what is written.
 */
import type { DefinedJob, Definition } from "./definition.ts";
import type { Path } from "./text/source.ts";

export interface NotRunYet {
  readonly path: Path;
  readonly message: string;
  /** True when a run would do something else than what is written; false when the run only lacks this part. */
  readonly refused: boolean;
}

/** Each part that the definition uses, with the first place of its use. */
export function findNotRunYet(definition: Definition): readonly NotRunYet[] {
  const found = new Map<string, NotRunYet>();
  const note: Note = (isThere, what, paths, refused = true) => {
    if (!isThere || found.has(what)) return;
    const path = definition.source.find(paths) ?? paths[0]!;
    const message = refused
      ? `${what} is not run yet: a run of this definition is refused`
      : `${what} has no effect yet; the definition runs without it`;
    found.set(what, { path, message, refused });
  };
  for (const stage of definition.stages) {
    for (const job of stage.jobs) noteJob(note, job);
  }
  return [...found.values()];
}

type Paths = readonly Path[];
/** Notes a part that the definition uses, at the first of `paths` that leads to a value. */
type Note = (isThere: boolean, what: string, paths: Paths, refused?: boolean) => void;

/** The places that a block may have: under either of its two names. */
function spellings(owner: Path, key: string): Paths {
  return [key, key[0]!.toUpperCase() + key.slice(1)].map((name) => [...owner, name]);
}

/** As {@link spellings}, for a block that the owner takes from the pipeline when it has none of its own. */
function inherited(owner: Path, key: string): Paths {
  return [...spellings(owner, key), ...spellings([], key)];
}

function noteJob(note: Note, job: DefinedJob): void {
  const { path } = job;
  note(job.target?.protected === true, "a protected `target`", inherited(path, "target"));
}
