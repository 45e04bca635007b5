/** Reads `plugin.yaml`: from its text to a manifest, or to all of its problems with lines and columns. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node } from "yaml";
import { z } from "zod";
import { findDuplicateKeys, findReservedKeys } from "../definition/text/node-checks.ts";
import { readText } from "../definition/text/read-text.ts";
import { parseImage } from "../domain/containers/image-references.ts";
import { MAX_LISTED_PROBLEMS, MillraceError, type Problem } from "../domain/errors.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { isVersion } from "../domain/plugin-versions.ts";
import { type JsonSchema, MANIFEST_FILE, PLUGIN_BOUNDS, type PluginManifest, reservedPart } from "../domain/plugins.ts";
import { didYouMean } from "../expressions/nearest.ts";
import { compileSchema } from "./args-check.ts";

const LIST_ITEMS = 256;

const description = z.string().max(10_000).default("");
const identifier = z.string().regex(/^[A-Za-z_][\w-]{0,63}$/, {
  error: "must begin with a letter or `_`, followed by at most 63 letters, digits, `_` or `-`",
});
const actionName = identifier.refine((name) => reservedPart(name) === undefined, {
  error: "must not be a reserved name such as `constructor`",
});

const action = z.strictObject({
  description,
  args: z
    .union([z.boolean(), z.record(z.string(), z.unknown())], { error: "must be a JSON Schema" })
    .superRefine((schema, check) => {
      const problem = typeof schema === "boolean" ? undefined : problemOf(schema);
      if (problem !== undefined) check.addIssue(problem);
    })
    .optional(),
  outputs: z.array(identifier).max(LIST_ITEMS).default([]),
  command: z
    .array(z.string().regex(/^[^\0]{1,4096}$/, { error: "must be 1 to 4096 characters" }))
    .min(1, { error: "must name a program" })
    .max(LIST_ITEMS),
});

const manifestSchema = z.strictObject({
  name: z
    .string()
    .max(PLUGIN_BOUNDS.nameChars)
    // The URL of a release has `versions` between the name of the plugin and its version.
    .regex(/^(?!(?:.*\/)?versions(?:\/|$))[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*$/, {
      error: "must be names of letters, digits, `_`, `-` and `.`, separated by `/`; no name can be `versions`",
    })
    .superRefine((name, check) => {
      const part = reservedPart(name);
      // The pattern above reports names of dots.
      if (part !== undefined && !part.startsWith("."))
        check.addIssue(`must not contain the reserved name ${JSON.stringify(part)}`);
    }),
  version: z.string({ error: "must be a string: put it in quotes" }).refine(isVersion, {
    error: "must be a version such as 1.2.3 or 1.2.3-rc.1",
  }),
  description,
  actions: z
    .record(actionName, action)
    .refine((actions) => Object.keys(actions).length > 0, { error: "must have at least one action" }),
  defaultAction: z.string().optional(),
  platforms: z
    .array(z.string().regex(/^[a-z0-9]+(?:\/[a-z0-9]+)?$/, { error: "must be a platform such as linux or linux/x64" }))
    .max(LIST_ITEMS)
    .default([]),
  image: z
    .string()
    .refine((image) => parseImage(image) !== undefined, {
      error: "must be the reference of an image, such as `node:22.12` or `registry.example/team/tools@sha256:...`",
    })
    .optional(),
});

export type ManifestResult =
  | { readonly manifest: PluginManifest }
  /** In the order of the file; each message begins with its place in the file. */
  | { readonly problems: readonly Problem[] };

/** Reads a manifest. Never throws; reports all problems at once. */
export function readManifest(text: string): ManifestResult {
  const lines = new LineCounter();
  const problems: Problem[] = [];
  const refuse = (offset: number, path: readonly PropertyKey[], message: string): void => {
    const { line, col } = lines.linePos(offset);
    const pointer = toPointer(path);
    const place = `${MANIFEST_FILE}:${line || 1}:${col || 1}`;
    problems.push({ code: "manifest", pointer, message: `${place}: ${message}`, line: line || 1, column: col || 1 });
  };
  if (Buffer.byteLength(text) > PLUGIN_BOUNDS.manifestBytes) {
    refuse(0, [], `a manifest may have ${PLUGIN_BOUNDS.manifestBytes} bytes; this one is larger`);
    return { problems };
  }
  const { root, value, findings } = readText(text, "yaml", lines);
  for (const { range, path, message } of [...findings, ...findDuplicateKeys(root), ...findReservedKeys(root)])
    refuse(range[0], path, message);
  if (problems.length > 0) return { problems };

  const { data, error } = manifestSchema.safeParse(value, { reportInput: true });
  for (const { path, message } of (error?.issues ?? []).flatMap(explain)) refuse(offsetOf(root, path), path, message);
  for (const { path, message } of data === undefined ? [] : wholeProblems(data)) {
    refuse(offsetOf(root, path), path, message);
  }
  if (problems.length > 0) return { problems: problems.toSorted((a, b) => a.line! - b.line! || a.column! - b.column!) };
  return { manifest: toManifest(data!) };
}

/** As {@link readManifest}; throws `malformed_request` with every problem. */
export function parseManifest(text: string): PluginManifest {
  const read = readManifest(text);
  if ("manifest" in read) return read.manifest;
  throw manifestRefused(read.problems);
}

/** The error for a manifest with these problems. */
export function manifestRefused(problems: readonly Problem[]): MillraceError {
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ message }) => message);
  const unlisted = problems.length - listed.length;
  const all = [...listed, ...(unlisted > 0 ? [`and ${unlisted} more`] : [])].join("\n  ");
  return new MillraceError("malformed_request", `the plugin's manifest has problems:\n  ${all}`, { problems });
}

interface LocatedMessage {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function explain(issue: z.core.$ZodIssue): readonly LocatedMessage[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    const known = path.length === 0 ? Object.keys(manifestSchema.shape) : Object.keys(action.shape);
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `unknown key ${JSON.stringify(key)}${didYouMean(key, known)}`,
    }));
  }
  const name = path.length === 0 ? "the manifest" : `\`${path.map(String).join(".")}\``;
  if (issue.input === undefined && issue.code === "invalid_type") {
    return [{ path: path.slice(0, -1), message: `${name} is required` }];
  }
  if (issue.code === "invalid_key") return issue.issues.map(({ message }) => ({ path, message: `${name} ${message}` }));
  if (issue.code === "invalid_type" && !issue.message.startsWith("must")) {
    return [{ path, message: `${name} must be a ${WORDS[issue.expected] ?? issue.expected}` }];
  }
  const message = /^(?:must|is|cannot) /.test(issue.message) ? issue.message : `is wrong: ${issue.message}`;
  return [{ path, message: `${name} ${message}` }];
}

const WORDS: Readonly<Record<string, string>> = { object: "map", record: "map", array: "list", string: "text" };

/** Problems that concern several values at once. */
function wholeProblems({ actions, defaultAction }: z.output<typeof manifestSchema>): readonly LocatedMessage[] {
  const names = Object.keys(actions);
  if (defaultAction === undefined || names.includes(defaultAction)) return [];
  const message = `there is no action ${JSON.stringify(defaultAction)}${didYouMean(defaultAction, names)}`;
  return [{ path: ["defaultAction"], message }];
}

/** What is wrong with the JSON Schema of an action's arguments; undefined when it is valid. */
function problemOf(schema: Readonly<Record<string, unknown>>): string | undefined {
  try {
    compileSchema(schema);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return /^(?:must|is) /.test(message) ? message : `cannot be used: ${message}`;
  }
}

function toManifest(data: z.output<typeof manifestSchema>): PluginManifest {
  const names = Object.keys(data.actions);
  return {
    name: data.name,
    version: data.version,
    description: data.description,
    actions: Object.fromEntries(
      Object.entries(data.actions).map(([name, { args, ...rest }]) => [
        name,
        { ...rest, args: (args as JsonSchema | undefined) ?? null },
      ]),
    ),
    defaultAction: data.defaultAction ?? (names.length === 1 ? names[0]! : null),
    platforms: data.platforms,
    ...(data.image === undefined ? {} : { image: data.image }),
  };
}

/** The offset of the key or the item at the end of a path; when there is none, that of the nearest one above it. */
function offsetOf(root: Node | null, path: readonly PropertyKey[]): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const part of path) {
    let place: unknown;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      [place, node] = [pair?.key, pair?.value];
    } else {
      place = node = isSeq(node) ? node.items[Number(part)] : undefined;
    }
    if (!isNode(place)) return offset;
    offset = place.range?.[0] ?? offset;
  }
  return offset;
}
