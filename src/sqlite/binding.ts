/**
 * Chooses the binding of SQLite: the one that is built into Node where it can be used without a flag, else a package with
 * the same API. The package is loaded only where it is needed.
 */
import { createRequire } from "node:module";
import type { DatabaseSync } from "@photostructure/sqlite";

export type Binding = typeof DatabaseSync;

let loaded: Binding | undefined;

/** The class that opens files, of the binding that this process uses. Loads the binding at the first call. */
export function sqliteBinding(): Binding {
  loaded ??= builtIn() ?? fromPackage();
  return loaded;
}

/** Undefined before Node 22.13, and where a part that this program uses is missing (before Node 22.16). */
function builtIn(): Binding | undefined {
  const found = withoutNotice(() => process.getBuiltinModule("node:sqlite" as never) as unknown);
  if (found === undefined) return undefined;
  const { DatabaseSync: candidate } = found as { readonly DatabaseSync: Binding };
  const memory = new candidate(":memory:");
  const isComplete = memory.isTransaction === false;
  memory.close();
  return isComplete ? candidate : undefined;
}

function fromPackage(): Binding {
  const { DatabaseSync: found } = createRequire(import.meta.url)("@photostructure/sqlite") as { DatabaseSync: Binding };
  return found;
}

/** Node 22 warns on stderr that its binding is experimental. The warning tells the operator nothing to act on. */
function withoutNotice<T>(load: () => T): T {
  // oxlint-disable-next-line typescript/unbound-method
  const emitWarning = process.emitWarning;
  process.emitWarning = (...args: unknown[]) => {
    if (args[1] === "ExperimentalWarning" && String(args[0]).includes("SQLite")) return;
    Reflect.apply(emitWarning, process, args);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
