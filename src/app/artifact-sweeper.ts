/**
 * Deletes what has expired, and what uploads have left that nobody went on with. Each step is safe to die after: the
 * record is marked, then the content goes, then the record; what is marked is found again.
 */
import type { ArtifactId } from "../domain/ids.ts";
import type { Stores } from "../stores/stores.ts";
import type { AppContext } from "./context.ts";

const INTERVAL_MS = 10_000;
/** Of one look; the next follows at once while there are more. */
const ARTIFACTS_A_LOOK = 100;

type Ports = Pick<AppContext, "clock" | "log"> & { readonly stores: Pick<Stores, "artifacts" | "blobs"> };

/** Several nodes may sweep at once: nothing is done twice that matters. */
export class ArtifactSweeper {
  readonly #context: Ports;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(context: Ports) {
    this.#context = context;
  }

  start(delayMs = INTERVAL_MS): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().then((isMore) => {
        if (this.#timer !== undefined) this.start(isMore ? 0 : INTERVAL_MS);
      });
    }, delayMs);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  async #look(): Promise<boolean> {
    try {
      return (await sweepArtifacts(this.#context, ARTIFACTS_A_LOOK)) === ARTIFACTS_A_LOOK;
    } catch (error) {
      this.#context.log.warn({ error: String(error) }, "expired artifacts could not be deleted; the next look follows");
      return false;
    }
  }
}

/** Deletes at most `limit` artifacts that have expired, and answers how many. */
export async function sweepArtifacts({ stores, clock, log }: Ports, limit: number): Promise<number> {
  const now = clock.now();
  const due = await stores.artifacts.expired(now, limit);
  for (const { artifactId, runId, name, state } of due) {
    if (!(await stores.artifacts.condemn(artifactId, now))) continue;
    await finishDeletion(stores, artifactId);
    log.info({ artifactId, runId, artifact: name, state }, "an artifact has expired and is deleted");
  }
  return due.length;
}

/** Deletes it whenever it expires. */
export async function deleteArtifactNow(stores: Ports["stores"], artifactId: ArtifactId): Promise<void> {
  if (await stores.artifacts.condemn(artifactId, Number.MAX_SAFE_INTEGER)) await finishDeletion(stores, artifactId);
}

async function finishDeletion({ artifacts, blobs }: Ports["stores"], artifactId: ArtifactId): Promise<void> {
  await blobs.delete(artifactId);
  await artifacts.remove(artifactId);
}
