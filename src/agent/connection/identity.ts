/** The identity that the control plane gave the agent at registration, kept in a file that only this user can read. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { MillraceError } from "../../domain/errors.ts";

export interface AgentIdentity {
  readonly agentId: string;
  /** Bearer token; never logged. */
  readonly agentToken: string;
  /** The name under which it was registered. */
  readonly name: string;
}

/** Undefined when the file does not exist yet. Rejects with `malformed_request` when it is damaged. */
export async function readIdentity(file: string): Promise<AgentIdentity | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const identity = parse(text);
  if (identity !== undefined) return identity;
  throw new MillraceError("malformed_request", `${file} is damaged: remove it to register this agent again`);
}

/** Replaces the whole file at once, so that a crash leaves either the old file or the new one. */
export async function writeIdentity(file: string, identity: AgentIdentity): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

function parse(text: string): AgentIdentity | undefined {
  try {
    const { agentId, agentToken, name } = JSON.parse(text) as Partial<AgentIdentity>;
    const known = typeof agentId === "string" && typeof agentToken === "string" && typeof name === "string";
    return known ? { agentId, agentToken, name } : undefined;
  } catch {
    return undefined;
  }
}
