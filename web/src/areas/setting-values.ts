/** Values of settings as texts, and as fields of a form. Pure. */
import { sizeText } from "../parts/time-texts.ts";
import { areaWords } from "./area-words.ts";

const texts = areaWords.settings;
const numbers = new Intl.NumberFormat("en");

interface Retention {
  readonly age?: string | null;
  readonly perPipeline?: number | null;
  readonly perProject?: number | null;
}

interface LabelQuota {
  readonly key: string;
  readonly value: string;
  readonly limit: number;
}

interface ValueField {
  readonly name: string;
  readonly label: string;
  readonly kind?: "area" | "number" | "select";
  readonly value: string;
  readonly options?: readonly (readonly [value: string, text: string])[];
  readonly hint?: string;
}

type Kind = "retention" | "flag" | "word" | "labels" | "number";

/** Settings that take one of a few words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "jobs.api": ["none", "read", "trigger", "write"],
  "forks.approval": ["always", "firstTime", "never"],
};

function kindOf(name: string): Kind {
  if (name.startsWith("retention.")) return "retention";
  if (name.startsWith("trust.") || name === "jobs.idToken" || name === "jobs.containers") return "flag";
  if (name in WORDS) return "word";
  return name === "quota.labels" ? "labels" : "number";
}

export function settingText(name: string, value: unknown): string {
  if (value === null || value === undefined) return texts.none;
  switch (kindOf(name)) {
    case "retention": {
      const { age = null, perPipeline = null, perProject = null } = value as Retention;
      return texts.retention(age, perPipeline, perProject);
    }
    case "flag":
      return value === true ? texts.yes : texts.no;
    case "labels": {
      const list = value as readonly LabelQuota[];
      return list.length === 0 ? texts.none : list.map(lineOf).join(", ");
    }
    case "number":
      if (typeof value !== "number") return JSON.stringify(value);
      return name === "log.bytes" ? sizeText(value) : numbers.format(value);
    case "word":
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}

const lineOf = ({ key, value, limit }: LabelQuota): string => `${key}=${value} ${limit}`;

export function fieldsOf(name: string, value: unknown): readonly ValueField[] {
  const label = texts.value;
  switch (kindOf(name)) {
    case "retention": {
      const { age, perPipeline, perProject } = (value ?? {}) as Retention;
      return [
        { name: "age", label: texts.age, value: age ?? "", hint: texts.ageHint },
        {
          name: "perPipeline",
          label: texts.perPipeline,
          kind: "number",
          value: `${perPipeline ?? ""}`,
          hint: texts.countHint,
        },
        {
          name: "perProject",
          label: texts.perProject,
          kind: "number",
          value: `${perProject ?? ""}`,
          hint: texts.countHint,
        },
      ];
    }
    case "flag":
      return [
        {
          name,
          label,
          kind: "select",
          value: value === true ? "true" : "false",
          options: [
            ["true", texts.yes],
            ["false", texts.no],
          ],
        },
      ];
    case "word": {
      const options = (WORDS[name] ?? []).map((word) => [word, word] as const);
      return [{ name, label, kind: "select", value: typeof value === "string" ? value : "", options }];
    }
    case "labels":
      return [
        {
          name,
          label: texts.limits,
          kind: "area",
          value: ((value ?? []) as readonly LabelQuota[]).map(lineOf).join("\n"),
          hint: texts.limitsHint,
        },
      ];
    case "number":
      return [{ name, label, kind: "number", value: typeof value === "number" ? `${value}` : "" }];
  }
}

/** The value that the fields of {@link fieldsOf} say. Throws an error for the reader when a field is wrong. */
export function readFields(name: string, fields: Readonly<Record<string, string>>): unknown {
  const text = fields[name] ?? "";
  switch (kindOf(name)) {
    case "retention":
      return {
        age: fields["age"]?.trim() === "" ? null : fields["age"]?.trim(),
        perPipeline: fields["perPipeline"]?.trim() === "" ? null : numberOf(fields["perPipeline"] ?? ""),
        perProject: fields["perProject"]?.trim() === "" ? null : numberOf(fields["perProject"] ?? ""),
      };
    case "flag":
      return text === "true";
    case "word":
      return text;
    case "labels":
      return text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .map((line) => {
          const match = /^([^=\s]+)=(\S+)\s+(\d+)$/.exec(line);
          if (match === null) throw new Error(texts.badLimit(line));
          return { key: match[1]!, value: match[2]!, limit: Number(match[3]) };
        });
    case "number":
      return numberOf(text);
  }
}

function numberOf(text: string): number {
  if (!/^\s*\d+\s*$/.test(text)) throw new Error(texts.badNumber);
  return Number(text);
}
