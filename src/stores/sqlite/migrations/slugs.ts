/** How the rows of before slugs get theirs. */

/**
 * Gives each row of a table the slug that follows from its name, as `derivedSlug` makes it. Of several rows with one slug in
 * one `scope` the first keeps it; the others end in their ids. The default tenant and project have their ids as slugs.
 */
export function giveSlugs(table: string, id: string, scope: string, fallback: string): string {
  return `
  WITH RECURSIVE letters (id, scope, rest, slug) AS (
    SELECT ${id}, ${scope}, lower(json_extract(body, '$.name')), '' FROM ${table}
    UNION ALL
    SELECT id, scope, substr(rest, 2), CASE
        WHEN substr(rest, 1, 1) GLOB '[a-z0-9]' THEN slug || substr(rest, 1, 1)
        WHEN slug = '' OR slug GLOB '*-' THEN slug
        ELSE slug || '-' END
      FROM letters WHERE rest <> ''
  ), derived (id, scope, slug, part) AS (
    SELECT id, scope,
        CASE WHEN id = 'default' THEN id ELSE coalesce(nullif(rtrim(substr(slug, 1, 63), '-'), ''), '${fallback}') END,
        lower(replace(substr(id, instr(id, '_') + 1), '_', ''))
      FROM letters WHERE rest = ''
  ), ranked (id, slug, part, place) AS (
    SELECT id, slug, part, row_number() OVER (PARTITION BY scope, slug ORDER BY id) FROM derived
  )
  UPDATE ${table} SET body = json_set(body, '$.slug', CASE
      WHEN ranked.id = ranked.slug OR (ranked.slug <> 'default' AND place = 1) THEN ranked.slug
      ELSE rtrim(substr(ranked.slug, 1, 62 - length(part)), '-') || '-' || part END)
    FROM ranked WHERE ranked.id = ${table}.${id};`;
}
