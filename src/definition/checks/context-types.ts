/** The types of what expressions read: the fields of each context, and the values that each field can have. */
import {
  ANY,
  arrayOf,
  BOOLEAN,
  type ContextTypes,
  NULL,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  unionOf,
  type ValueType,
} from "../../expressions/types.ts";
import { NOTIFICATION_REASONS, type NotificationValues, type Scalar } from "../../domain/plan.ts";
import type { Matrix } from "../matrix.ts";
import { asMap, mapBlockOf, mapsOf, type Raw } from "../text/raw.ts";

const TRIGGER_KINDS = ["manual", "cron", "event"];
/** Results of a job after its end. */
const JOB_RESULTS = ["success", "failed", "cancelled"];
const STEP_RESULTS = ["success", "failed", "cancelled", "timeout", "skipped"];

const UPLOAD = objectOf("an upload of the trigger", { uploadId: STRING, name: STRING, size: NUMBER, sha256: STRING });
/** A trigger may give none, and none of a name. */
const UPLOADS = unionOf(objectOf("`trigger.uploads`", {}, { others: unionOf(UPLOAD, NULL) }), NULL);

/** See `NotificationValues` of src/domain/plan.ts. */
const NOTIFICATION_FIELDS = {
  on: oneOf(NOTIFICATION_REASONS),
  status: STRING,
  reason: STRING,
  subject: STRING,
  text: STRING,
  url: STRING,
  job: STRING,
  failedJobs: arrayOf(STRING),
  triggeredBy: STRING,
  ref: STRING,
  commit: STRING,
  duration: NUMBER,
  waitingFor: STRING,
} satisfies Record<keyof NotificationValues, ValueType>;

/** The contexts that are the same in every place of a definition; a place may read some of them. */
export function pipelineTypes(root: Raw): ContextTypes {
  return new Map<string, ValueType>([
    ["trigger", objectOf("`trigger`", { kind: oneOf(TRIGGER_KINDS), ref: STRING, uploads: UPLOADS }, { others: ANY })],
    ["variables", objectOf("`variables`", variableTypes(root), { others: STRING })],
    ["run", objectOf("`run`", { id: STRING, attempt: NUMBER })],
    ["pipeline", objectOf("`pipeline`", { id: STRING, name: STRING })],
    ["project", objectOf("`project`", { id: STRING })],
    ["secrets", objectOf("`secrets`", {}, { others: STRING })],
    ["notification", objectOf("`notification`", NOTIFICATION_FIELDS)],
  ]);
}

/** Names of the variables that the definition declares, which a trigger may override. */
export function declaredVariables(root: Raw): readonly string[] {
  return Object.keys(variableTypes(root));
}

/** `env` with the names that these maps declare. */
export function envType(...maps: readonly unknown[]): ValueType {
  const names = maps.flatMap((map) => Object.keys(asMap(map) ?? {}));
  return objectOf("`env`", new Map(names.map((name) => [name, STRING])), { hint: ENV_HINT });
}

const ENV_HINT = "`env` has only what the definition declares; a script reads the environment of its agent itself";

/** The `matrix` context of a job; `matrix` is undefined for a job without one. */
export function matrixType(matrix: Pick<Matrix, "axes" | "include"> | undefined): ValueType {
  if (matrix === undefined) return objectOf("`matrix`", {}, { hint: "this job has no matrix" });
  const fields = new Map<string, ValueType>(matrix.include.flat().map(([name]) => [name, ANY]));
  for (const [name, values] of matrix.axes) {
    fields.set(name, typeof values === "string" || fields.has(name) ? ANY : unionOf(...values.map(typeOfScalar)));
  }
  return objectOf("`matrix`", fields);
}

/** A job as other jobs read it. The outputs of a job with a matrix are lists, with a value for each cell. */
export function jobType(name: string, job: Raw): ValueType {
  const output = job["matrix"] === undefined ? STRING : arrayOf(STRING);
  const names = Object.keys(asMap(job["outputs"]) ?? {});
  const outputs = new Map(names.map((one) => [one, output]));
  const hint = { hint: `job "${name}" declares no outputs: give it \`outputs\`` };
  return objectOf(`\`jobs.${name}\``, {
    result: oneOf(JOB_RESULTS),
    outputs: objectOf(`\`jobs.${name}.outputs\``, outputs, names.length === 0 ? hint : {}),
  });
}

/** A step as later steps read it. A step that declares no `outputs` may write any. */
export function stepType(id: string, step: Raw): ValueType {
  const declared = Array.isArray(step["outputs"]) ? step["outputs"].filter((one) => typeof one === "string") : null;
  const fields = new Map((declared ?? []).map((one) => [one, STRING]));
  return objectOf(`\`steps.${id}\``, {
    result: oneOf(STEP_RESULTS),
    outputs: objectOf(`\`steps.${id}.outputs\``, fields, {
      others: declared === null ? STRING : null,
    }),
  });
}

/** `jobs` or `steps`. Every field has a type here: the check of references reports unknown names with messages of its own. */
export function namedTypes(noun: string, types: Readonly<Record<string, ValueType>>): ValueType {
  return objectOf(noun, types, { others: ANY });
}

function variableTypes(root: Raw): Readonly<Record<string, ValueType>> {
  const types: Record<string, ValueType> = {};
  // A trigger can override a variable of any type with a text.
  for (const [name, value] of Object.entries(asMap(root["variables"]) ?? {})) {
    types[name] = isScalar(value) ? unionOf(typeOfScalar(value), STRING) : ANY;
  }
  const triggers = mapBlockOf(root, [], "triggers");
  const inputs = asMap(asMap(triggers?.value["manual"])?.["inputs"]);
  for (const [name, input] of Object.entries(inputs ?? {})) types[name] = inputType(asMap(input) ?? {});
  for (const { value } of mapsOf(triggers?.value["cron"], [])) {
    for (const name of Object.keys(asMap(value["variables"]) ?? {})) types[name] ??= ANY;
  }
  return types;
}

function inputType({ type, options }: Raw): ValueType {
  if (type === "number") return NUMBER;
  if (type === "boolean") return BOOLEAN;
  if (type !== "choice" || !Array.isArray(options)) return STRING;
  return oneOf(["", ...options.filter((one) => typeof one === "string")]);
}

function typeOfScalar(value: Scalar): ValueType {
  if (typeof value === "number") return NUMBER;
  return typeof value === "boolean" ? BOOLEAN : STRING;
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
