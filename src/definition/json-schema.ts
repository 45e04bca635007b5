/**
 * The language as a JSON Schema, for editors and other programs that check a definition without this validator. It is made of the
 * schemas that the validator itself uses, and of rules about several keys at once, which those schemas do not have. It never
 * refuses a definition that the validator accepts. Only the validator checks names, expressions, sums and bounds of durations.
 */
import { RESERVED_PART } from "../domain/plugins.ts";
import { z } from "zod";
import { notifySchema, sourceSchema } from "./schema/blocks.ts";
import { checkoutArgs, shellArgs } from "./schema/builtins.ts";
import { jobRetrySchema, jobSchema, labelExpressionSchema, matrixSchema } from "./schema/job.ts";
import { pipelineSchema, stageSchema } from "./schema/pipeline.ts";
import { stepRetrySchema, stepSchema } from "./schema/step.ts";
import { eventSchema, inputSchema, PROVIDERS } from "./schema/triggers.ts";
import { env } from "./schema/values.ts";
import { ENV_NAME } from "./checks/name-checks.ts";
import { EVENTS } from "./checks/trigger-checks.ts";
import { BUILTIN_ARGS, PLUGIN } from "./checks/uses.ts";

const DRAFT = "http://json-schema.org/draft-07/schema#";

type JsonSchema = z.core.JSONSchema.BaseSchema;
type Definitions = Record<string, JsonSchema> | undefined;

/**
 * The schema in draft 7, which the language servers of YAML and of VS Code support in full. They silently ignore some keywords of
 * later drafts.
 */
export function definitionJsonSchema(): JsonSchema {
  const pieces = definitionJsonSchemaInPieces();
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
  }
}

/** As {@link definitionJsonSchema}, for a caller that does other work in between. */
export function* definitionJsonSchemaInPieces(): Generator<void, JsonSchema, void> {
  const pipeline = render(pipelineSchema);
  const definitions: Definitions = { ...pipeline.definitions };
  for (const [builtin, args] of BUILTIN_ARGS) {
    yield;
    const { shape, definitions: within } = render(args);
    Object.assign(definitions, within, { [argsOf(builtin)]: shape });
  }
  return { $schema: DRAFT, $id: "urn:millrace:definition", ...pipeline.shape, definitions };
}

function render(schema: z.ZodType): { readonly shape: JsonSchema; readonly definitions: Definitions } {
  const rendered = z.toJSONSchema(schema, {
    target: "draft-7",
    io: "input",
    override: ({ zodSchema, jsonSchema }) => void Object.assign(jsonSchema, RULES.get(zodSchema)),
  });
  const { $schema: _, definitions, ...shape } = rendered;
  return { shape, definitions: definitions as Definitions };
}

const BUILTINS = [...BUILTIN_ARGS.keys()];
const PLUGIN_USES = {
  pattern: PLUGIN.source,
  not: { pattern: `^(?:${BUILTINS.join("|")})@|(?:^|[/@])(?:${RESERVED_PART})(?:[/@]|$)` },
};
const KNOWN_PROVIDERS = PROVIDERS.filter((provider) => provider !== "generic");
const DELAYED = { dependencies: { backoff: ["delay"], maxDelay: ["delay"] } };
const WHOLE_NUMBER = { anyOf: [{ type: "integer" as const }, { type: "string" as const, pattern: "^-?\\d+$" }] };
const LABEL_VALUES = [
  ifIs("operator", ["In", "NotIn"], { required: ["values"], properties: { values: { minItems: 1 } } }),
  ifIs("operator", ["Exists", "NotExists"], { properties: { values: { maxItems: 0 } } }),
  ifIs("operator", ["Gt", "Lt"], {
    required: ["values"],
    properties: { values: { minItems: 1, maxItems: 1, items: WHOLE_NUMBER } },
  }),
];

/** Rules about several keys of one map, the same as the checks of the validator. */
const RULES: ReadonlyMap<z.core.$ZodType, JsonSchema> = new Map<z.core.$ZodType, JsonSchema>([
  [
    pipelineSchema,
    {
      anyOf: ["stages", "jobs", "include"].map((key) => ({ required: [key] })),
      allOf: [notBoth("stages", "jobs"), ...oneSpelling("source", "approval", "target", "notify", "triggers")],
    },
  ],
  [stageSchema, { allOf: oneSpelling("approval") }],
  [jobSchema, { allOf: oneSpelling("source", "approval", "target", "notify") }],
  [stepSchema, { allOf: [...BUILTIN_ARGS].map(argsByUses) }],
  [stepSchema.shape.uses, { anyOf: [{ enum: BUILTINS.flatMap(spellingsOf) }, PLUGIN_USES] }],
  [shellArgs, { ...oneOf("script", "command"), dependencies: { shell: ["script"], args: ["command"] } }],
  [checkoutArgs, notBoth("branch", "ref")],
  [sourceSchema, notBoth("branch", "ref")],
  [env, { propertyNames: { pattern: ENV_NAME.source } }],
  [notifySchema.element, oneOf("webhook", "slack", "email")],
  [matrixSchema, { anyOf: [{ required: ["axes"] }, { required: ["include"] }] }],
  [stepRetrySchema, DELAYED],
  [jobRetrySchema, DELAYED],
  [labelExpressionSchema, { allOf: LABEL_VALUES }],
  [inputSchema, { ...ifIs("type", ["choice"], { required: ["options"] }), else: { not: { required: ["options"] } } }],
  [eventSchema, ifIs("provider", KNOWN_PROVIDERS, { properties: { event: { enum: [...EVENTS] } } })],
]);

/** The name under which the schema defines the arguments of a builtin. */
function argsOf(builtin: string): string {
  return `${builtin}Args`;
}

function spellingsOf(builtin: string): readonly string[] {
  return [builtin, `${builtin}@v1`];
}

function argsByUses([builtin, args]: readonly [string, z.ZodType]): JsonSchema {
  const needsArgs = args === shellArgs || !args.safeParse({}).success;
  return ifIs("uses", spellingsOf(builtin), {
    properties: { action: { const: "" }, args: { $ref: `#/definitions/${argsOf(builtin)}` } },
    ...(needsArgs ? { required: ["args"] } : {}),
  });
}

function ifIs(key: string, words: readonly string[], then: JsonSchema): JsonSchema {
  // eslint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  return { if: { properties: { [key]: { enum: [...words] } }, required: [key] }, then };
}

function oneOf(...keys: readonly string[]): JsonSchema {
  return { oneOf: keys.map((key) => ({ required: [key] })) };
}

function notBoth(...keys: readonly string[]): JsonSchema {
  return { not: { required: [...keys] } };
}

function oneSpelling(...blocks: readonly string[]): JsonSchema[] {
  return blocks.map((key) => notBoth(key, key[0]!.toUpperCase() + key.slice(1)));
}
