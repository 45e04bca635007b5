/** The slugs of tenants and projects: given by users, or following from names. */
import { z } from "zod";
import { MillraceError } from "../domain/errors.ts";
import { derivedSlug, distinctSlug, isSlug, SLUG_RULE, slugPartOf } from "../domain/names.ts";

/** Slugs that are tried before one that ends in the id: `website`, `website-2` and so on. */
const TRIES = 9;
/** The id of the default tenant and project, so that as a slug it could mean two things. */
const RESERVED = "default";

export const givenSlug = z
  .string()
  .max(63)
  .refine(isSlug, SLUG_RULE)
  .meta({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", minLength: 1 });

interface Sluggable {
  readonly kind: "tenant" | "project";
  readonly id: string;
  readonly name: string;
  /** Absent: it follows from the name. */
  readonly slug: string | undefined;
}

/**
 * Stores something under the slug that is given, or else under the first free one that follows from the name. `store`
 * answers whether the slug was free. Throws `already_exists` for a given slug that is taken.
 */
export async function storeWithSlug<T>(
  { kind, id, name, slug }: Sluggable,
  store: (slug: string) => Promise<T | "slugTaken">,
): Promise<T> {
  if (slug !== undefined) {
    requireOwnSlug(kind, id, slug);
    const outcome = await store(slug);
    if (outcome === "slugTaken") throw slugTaken(kind, slug);
    return outcome;
  }
  const derived = derivedSlug(name, kind);
  for (let count = 1; count <= TRIES; count++) {
    if (derived === RESERVED && count === 1 && id !== RESERVED) continue;
    const outcome = await store(count === 1 ? derived : distinctSlug(derived, String(count)));
    if (outcome !== "slugTaken") return outcome;
  }
  const last = distinctSlug(derived, slugPartOf(id));
  const outcome = await store(last);
  if (outcome === "slugTaken") throw slugTaken(kind, last);
  return outcome;
}

/** Throws `malformed_request` for the slug of the default tenant and project, when it is given to another one. */
export function requireOwnSlug(kind: Sluggable["kind"], id: string, slug: string | undefined): void {
  if (slug !== RESERVED || id === RESERVED) return;
  const message = `the slug "${RESERVED}" belongs to the default ${kind}: choose another one`;
  throw new MillraceError("malformed_request", message, {
    problems: [{ code: "invalid", pointer: "/slug", message }],
  });
}

export function slugTaken(kind: Sluggable["kind"], slug: string): MillraceError {
  const where = kind === "project" ? " in the tenant" : "";
  return new MillraceError(
    "already_exists",
    `there is a ${kind} with the slug ${JSON.stringify(slug)}${where} already`,
  );
}

/** The slug that is shown. What a node without slugs has made has none of its own until it is given one. */
export function slugOf(id: string, slug: string | undefined): string {
  return slug ?? slugPartOf(id);
}
