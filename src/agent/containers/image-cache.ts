/**
 * The images that this agent has pulled, within a bound of bytes: beyond it, those that were not used for the longest time
 * are removed from the engine. Images that are in use stay, and so does what others have brought into the engine. The record is
 * a file, so that the bound holds over restarts. An agent that is killed between a pull and its record leaves that image.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Clock } from "../../domain/clock.ts";
import { fullReference } from "../../domain/containers/image-references.ts";
import type { Logger } from "../../domain/logger.ts";
import { Holds } from "../../domain/work/holds.ts";
import { InTurn } from "../../domain/work/in-turn.ts";
import type { ContainerEngine } from "./engine.ts";
import { imageIds, type InspectedImage, inspectImage } from "./inspect-image.ts";

export interface ImageCacheOptions {
  readonly engine: ContainerEngine;
  /** The record; it is created when it is needed. */
  readonly file: string;
  /** An image counts with all its layers, also with those that it shares with others. */
  readonly limitBytes: number;
  readonly clock: Pick<Clock, "now">;
  readonly log: Logger;
}

export interface HeldImage extends InspectedImage {
  /** Call when no container of the image is left. Until then the cache does not remove it. Idempotent. */
  release(): void;
}

interface PulledImage {
  readonly id: string;
  /** The references by which the agent has pulled it, as {@link fullReference} writes them. */
  readonly names: readonly string[];
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly usedAt: number;
}

export class ImageCache {
  readonly #options: ImageCacheOptions;
  /** By their ids. */
  readonly #pulled: Map<string, PulledImage>;
  /** The jobs that use an image, by its id, or pull one, by its full reference. */
  readonly #uses = new Holds();
  /** No look-up or removal begins in the middle of another, and no trimming, which has many removals. */
  readonly #turns = new InTurn<"image" | "trimming">();

  constructor(options: ImageCacheOptions) {
    this.#options = options;
    this.#pulled = new Map(readRecord(options).map((image) => [image.id, image]));
  }

  /** The first of these images that the engine has; undefined without one. */
  hold(names: readonly string[]): Promise<HeldImage | undefined> {
    return this.#turns.run("image", async () => {
      const found = await inspectImage(this.#options.engine, names);
      return found && this.#hold(found);
    });
  }

  /**
   * Calls `pull`, which makes the engine pull `name`, and holds the first of `names`; undefined when the engine has none of
   * them then. Rejects as `pull` does.
   */
  async pull(name: string, names: readonly string[], pull: () => Promise<void>): Promise<HeldImage | undefined> {
    const { engine } = this.#options;
    const reference = fullReference(name);
    const release = this.#uses.hold(reference);
    try {
      const before = await imageIds(engine);
      await pull();
      return await this.#turns.run("image", async () => {
        const found = await inspectImage(engine, names);
        if (found === undefined) return undefined;
        const isOwn = this.#pulled.has(found.id) || before?.has(found.id) === false;
        if (isOwn) this.#notePull(found, reference);
        return this.#hold(found);
      });
    } finally {
      release();
    }
  }

  /** Whether the engine still has the image. Another program of this machine may have removed it. */
  async has(id: string): Promise<boolean> {
    return (await inspectImage(this.#options.engine, [id])) !== undefined;
  }

  /** Removes what is beyond the bound. Never rejects. */
  trim(): Promise<void> {
    return this.#turns.run("trimming", () => this.#trim());
  }

  #hold(image: InspectedImage): HeldImage {
    this.#noteUse(image.id);
    const release = this.#uses.hold(image.id);
    return {
      ...image,
      release: () => {
        this.#noteUse(image.id);
        release();
        if (this.#excess() > 0) void this.trim();
      },
    };
  }

  #notePull({ id, bytes }: InspectedImage, name: string): void {
    const names = new Set([...(this.#pulled.get(id)?.names ?? []), name]);
    this.#pulled.set(id, { id, names: [...names], bytes, usedAt: this.#options.clock.now() });
    this.#save();
    if (this.#excess() > 0) void this.trim();
  }

  #noteUse(id: string): void {
    const image = this.#pulled.get(id);
    if (image === undefined) return;
    this.#pulled.set(id, { ...image, usedAt: this.#options.clock.now() });
    this.#save();
  }

  /** Bytes beyond the bound. */
  #excess(): number {
    return [...this.#pulled.values()].reduce((sum, { bytes }) => sum + bytes, 0) - this.#options.limitBytes;
  }

  async #trim(): Promise<void> {
    const kept = new Set<string>();
    if (this.#excess() > 0) await this.#turns.run("image", () => this.#forgetRemoved());
    while (this.#excess() > 0 && (await this.#turns.run("image", () => this.#removeOldest(kept))));
  }

  /** Forgets images that others have removed. */
  async #forgetRemoved(): Promise<void> {
    const there = await imageIds(this.#options.engine);
    const gone = [...this.#pulled.keys()].filter((id) => there?.has(id) === false);
    for (const id of gone) this.#pulled.delete(id);
    if (gone.length > 0) this.#save();
  }

  /** False when no image is left that may be removed. `kept`: those that were tried. */
  async #removeOldest(kept: Set<string>): Promise<boolean> {
    const isFree = ({ id, names }: PulledImage) => !kept.has(id) && ![id, ...names].some((key) => this.#uses.has(key));
    const [oldest] = [...this.#pulled.values()].filter(isFree).toSorted((a, b) => a.usedAt - b.usedAt);
    if (oldest === undefined) return false;
    kept.add(oldest.id);
    if (await this.#remove(oldest)) {
      this.#pulled.delete(oldest.id);
      this.#save();
    }
    return true;
  }

  /** Whether the image is no longer in the care of this agent. */
  async #remove({ id, names, bytes }: PulledImage): Promise<boolean> {
    const { engine, log } = this.#options;
    const found = await inspectImage(engine, [id]);
    // Under a name that the agent has not pulled, the image is that of another user of the engine as well.
    if (found === undefined || found.tags.some((tag) => !names.includes(fullReference(tag)))) return true;
    // Without force: the engine refuses when a container of another program uses the image.
    const { code, stderr } = await engine.ask(["rmi", ...(found.tags.length > 0 ? found.tags : [id])]);
    if (code === 0) log.info({ image: names, id, bytes }, "an image that was not used for a long time is removed");
    else log.debug({ image: names, id, problem: stderr }, "an image cannot be removed now");
    return code === 0;
  }

  #save(): void {
    const { file, log } = this.#options;
    try {
      writeFileSync(`${file}.new`, `${JSON.stringify({ images: [...this.#pulled.values()] })}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch (error) {
      log.warn({ file, problem: (error as Error).message }, "the record of pulled images cannot be written");
    }
  }
}

/** Empty without a record, and for a damaged one: its images stay in the engine. */
function readRecord({ file, log }: ImageCacheOptions): readonly PulledImage[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  try {
    const { images } = JSON.parse(text) as { readonly images: readonly PulledImage[] };
    if (images.every(isPulledImage)) return images;
  } catch {
    // Told below.
  }
  log.warn({ file }, "the record of pulled images is damaged: the images that it named are not removed by this agent");
  return [];
}

function isPulledImage({ id, names, bytes, usedAt }: PulledImage): boolean {
  return typeof id === "string" && Array.isArray(names) && Number.isFinite(bytes) && Number.isFinite(usedAt);
}
