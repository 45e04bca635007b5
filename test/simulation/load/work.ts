/**
 * What a step of the simulation does, as its script says: `work MS`, `work MS exit CODE`, or `work MS fail N` for a
 * step that fails the first N times that its job starts it.
 */

export interface Work {
  readonly workMs: number;
  readonly exitCode: number;
}

const SCRIPT = /^work (\d+)(?: exit (\d+)| fail (\d+))?$/;

/** Throws for another script: every script of the simulation is one of these. */
export function workOf(script: string, startsBefore: number): Work {
  const [, ms, exit, fail] = SCRIPT.exec(script) ?? [];
  if (ms === undefined) throw new Error(`the simulation cannot run ${JSON.stringify(script)}`);
  const fails = fail !== undefined && startsBefore < Number(fail);
  return { workMs: Number(ms), exitCode: fails ? 7 : Number(exit ?? 0) };
}
