/** The inputs of a manual trigger, as a definition has them. Pure. */

export interface Input {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "choice";
  readonly description: string;
  readonly isRequired: boolean;
  /** The value when the trigger gives none; empty where the definition has no default. */
  readonly value: string;
  readonly options: readonly string[];
}

const TYPES = ["string", "number", "boolean", "choice"] as const;

/** Reads what is there, and leaves out what a definition cannot have: the server has checked it. */
export function readInputs(spec: unknown): readonly Input[] {
  const triggers = field(spec, "triggers") ?? field(spec, "Triggers");
  const inputs = field(field(triggers, "manual"), "inputs");
  if (typeof inputs !== "object" || inputs === null) return [];
  return Object.entries(inputs).map(([name, raw]) => {
    const type = TYPES.find((word) => word === field(raw, "type")) ?? "string";
    const options = field(raw, "options");
    const choices = Array.isArray(options) ? options.map(String) : [];
    const given = field(raw, "default");
    const without = type === "boolean" ? "false" : type === "choice" ? (choices[0] ?? "") : "";
    return {
      name,
      type,
      description: text(field(raw, "description")),
      isRequired: field(raw, "required") === true,
      value: given === undefined ? without : text(given),
      options: choices,
    };
  });
}

/** The variables of a run that gives `given`: of the inputs that it leaves out, the defaults. */
export function withDefaults(
  inputs: readonly Input[],
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(inputs.map(({ name, value }) => [name, value])), ...given };
}

/** One variable that the next run has otherwise than the last one; undefined for one that is not given. */
export interface ChangedVariable {
  readonly name: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}

export function changedVariables(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly ChangedVariable[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .map((name) => ({ name, before: before[name], now: now[name] }))
    .filter((one) => one.before !== one.now);
}

function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? (of as Readonly<Record<string, unknown>>)[name] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? `${value}` : "";
}
