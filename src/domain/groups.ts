/** Concurrency groups, as those see them who ask for a place. */

/** `asked`: it waits for a place or is refused one; `held`: it has one. */
export type Place = "none" | "asked" | "held";
