/**
 * What holds the programs of steps that run outside of containers: their bounds, and the namespaces in which they run. An
 * agent may also run no such program at all.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Isolation } from "../domain/containers/containers.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentOptions } from "./options.ts";
import { checkNamespaces, inNamespaces } from "./process/namespaces.ts";
import { type BoundedSteps, type Command, type LimitedPlace, openStepLimits } from "./process/step-limits.ts";
import { giveTo, type StepUser } from "./process/step-user.ts";
import type { Trash } from "./folders/trash.ts";

/** A command of a step, confined. */
export interface ConfinedCommand {
  readonly command: Command;
  /** Whether the kernel has killed a process of the step for lack of memory. Call it before {@link end}. */
  ranOutOfMemory(): boolean;
  /** Call it when no process of the step is left. */
  end(): Promise<void>;
}

export interface ConfinedStep {
  readonly leaseMark: string;
  /** Folders that the step may write. */
  readonly folders: readonly string[];
  /** Whether the step reaches services of its job through the network of this machine. */
  readonly hasServices: boolean;
}

export interface ConfinedPlace extends LimitedPlace {
  readonly hasEngine: boolean;
  readonly user: StepUser | undefined;
}

const FREE: Pick<ConfinedCommand, "ranOutOfMemory" | "end"> = {
  ranOutOfMemory: () => false,
  end: () => Promise.resolve(),
};

export class Confinement {
  readonly isolation: Isolation | undefined;
  readonly #hasNetwork: boolean;
  readonly #hidden: readonly string[];
  readonly #bounded: BoundedSteps | undefined;

  /** Throws `malformed_request` when this machine cannot do what is asked for. Call it while this agent owns the data directory. */
  static async open(
    { isolation, stepLimits }: Pick<AgentOptions, "isolation" | "stepLimits">,
    place: ConfinedPlace,
  ): Promise<Confinement> {
    if (isolation?.kind === "container" && !place.hasEngine) {
      throw new MillraceError(
        "malformed_request",
        "the isolation `container` needs a container engine, and none works here: install Podman or Docker, or see the log for what is wrong with it",
      );
    }
    if (isolation?.kind === "namespaces") await checkNamespaces(place.user);
    const bounded = stepLimits && (await openStepLimits(stepLimits, place));
    return new Confinement(isolation, place, bounded);
  }

  private constructor(
    isolation: AgentOptions["isolation"],
    { dataDir, user }: Pick<ConfinedPlace, "dataDir" | "user">,
    bounded: BoundedSteps | undefined,
  ) {
    this.isolation = isolation?.kind;
    this.#hasNetwork = isolation?.hasNetwork === true;
    this.#hidden = [user?.home ?? homedir(), dataDir];
    this.#bounded = bounded;
  }

  /** Throws `unavailable` for a step without a container where the operator demands one: another agent may run it. */
  admit(): void {
    if (this.isolation !== "container") return;
    const text = "this agent runs steps in containers alone, and this step has no container";
    throw new MillraceError("unavailable", text);
  }

  /** A folder for what one step reads and writes, where the step does not see that of the agent. */
  openFolder(scratchDir: string, user: StepUser | undefined): string | undefined {
    if (this.isolation !== "namespaces") return undefined;
    const folder = join(scratchDir, `step-${randomUUID()}`);
    mkdirSync(folder, { mode: 0o700 });
    giveTo(user, folder);
    return folder;
  }

  confine(command: Command, { leaseMark, folders, hasServices }: ConfinedStep): ConfinedCommand {
    const hasNetwork = this.#hasNetwork || hasServices;
    const inside =
      this.isolation === "namespaces" ? inNamespaces(command, { hidden: this.#hidden, folders, hasNetwork }) : command;
    return this.#bounded?.limit(inside, leaseMark) ?? { ...FREE, command: inside };
  }
}

/** Removes the folder of a step. */
export async function closeFolder(folder: string, trash: Trash): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    trash.take(folder);
  }
}
