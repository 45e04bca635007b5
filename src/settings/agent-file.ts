/**
 * An agent's config file: a YAML map from options of `millrace agent` to their values. Each option stands for the
 * environment variable of the same setting, and its value is checked as a value of that variable.
 */
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { type AgentVariable, agentVariableProblem } from "./config.ts";
import { MillraceError, type Problem } from "../domain/errors.ts";
import { toPointer } from "../domain/json-pointer.ts";

/** The environment variable of each option. */
export const AGENT_SETTINGS = {
  gateway: "MILLRACE_GATEWAY",
  security: "MILLRACE_GATEWAY_SECURITY",
  ca: "MILLRACE_GATEWAY_CA_FILE",
  cert: "MILLRACE_GATEWAY_CERT_FILE",
  key: "MILLRACE_GATEWAY_KEY_FILE",
  "registration-token": "MILLRACE_REGISTRATION_TOKEN",
  "identity-token-file": "MILLRACE_IDENTITY_TOKEN_FILE",
  name: "MILLRACE_AGENT_NAME",
  slots: "MILLRACE_AGENT_SLOTS",
  "max-jobs": "MILLRACE_AGENT_MAX_JOBS",
  "idle-exit": "MILLRACE_AGENT_IDLE_EXIT",
  labels: "MILLRACE_AGENT_LABELS",
  facts: "MILLRACE_AGENT_FACTS",
  "data-dir": "MILLRACE_DATA_DIR",
  "drain-timeout": "MILLRACE_AGENT_DRAIN_TIMEOUT",
  "min-free-disk": "MILLRACE_AGENT_MIN_FREE_DISK",
  "step-isolation": "MILLRACE_AGENT_STEP_ISOLATION",
  "container-engine": "MILLRACE_AGENT_CONTAINER_ENGINE",
  "container-images": "MILLRACE_AGENT_CONTAINER_IMAGES",
  "image-cache": "MILLRACE_AGENT_IMAGE_CACHE",
  isolation: "MILLRACE_AGENT_ISOLATION",
  "isolation-network": "MILLRACE_AGENT_ISOLATION_NETWORK",
  "step-memory": "MILLRACE_AGENT_STEP_MEMORY",
  "step-pids": "MILLRACE_AGENT_STEP_PIDS",
  "step-cpus": "MILLRACE_AGENT_STEP_CPUS",
  "log-buffer": "MILLRACE_AGENT_LOG_BUFFER",
  "step-user": "MILLRACE_STEP_USER",
  "plugin-dirs": "MILLRACE_AGENT_PLUGIN_DIRS",
  "plugin-cache": "MILLRACE_AGENT_PLUGIN_CACHE",
  "log-level": "LOG_LEVEL",
} as const satisfies Record<string, AgentVariable>;

export type AgentVariables = Partial<Record<AgentVariable, string>>;

/**
 * Reads a config file and returns the environment variables that it stands for. Throws `malformed_request` with all
 * problems at once. Each problem has its line and column, and none shows a value. `file` is the name of the file in the
 * problems.
 */
export function readAgentConfigFile(text: string, file: string): AgentVariables {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, stringKeys: true, prettyErrors: false });
  const problems: Problem[] = [];
  const refuse = (at: number, message: string, pointer = "") => {
    const { line, col } = lines.linePos(at);
    problems.push({ code: "config", pointer, message: `${file}:${line}:${col}: ${message}`, line, column: col });
  };
  for (const { pos, message } of [...document.errors, ...document.warnings]) refuse(pos[0], message);
  const variables: AgentVariables = {};
  const root = document.contents;
  if (isMap<Node, Node | null>(root)) {
    for (const { key, value } of root.items) {
      const setting = isScalar(key) ? String(key.value) : "";
      const pointer = toPointer([setting]);
      const at = key.range![0];
      const variable = settingNamed(setting);
      if (variable === undefined) {
        refuse(at, `unknown key "${setting}": use one of ${Object.keys(AGENT_SETTINGS).join(", ")}`, pointer);
        continue;
      }
      const read =
        setting === "labels" && isMap<Node, Node | null>(value) ? readLabels(value.items) : readScalar(value);
      const problem = "problem" in read ? read.problem : agentVariableProblem(variable, read.text);
      if (problem !== undefined) refuse(value?.range?.[0] ?? at, `${setting} ${problem}`, pointer);
      else if ("text" in read) variables[variable] = read.text;
    }
  } else if (root !== null && problems.length === 0) {
    refuse(root.range[0], "the file must be a map of options to their values");
  }
  if (problems.length === 0) return variables;
  const all = problems.map(({ message }) => message).join("\n  ");
  throw new MillraceError("malformed_request", `the agent's config file has problems:\n  ${all}`, { problems });
}

type Read = { readonly text: string } | { readonly problem: string };

function settingNamed(name: string): AgentVariable | undefined {
  return Object.hasOwn(AGENT_SETTINGS, name) ? AGENT_SETTINGS[name as keyof typeof AGENT_SETTINGS] : undefined;
}

function readScalar(node: Node | null): Read {
  if (node === null || (isScalar(node) && (node.value === null || node.value === "")))
    return { problem: "has no value" };
  if (!isScalar(node)) return { problem: "must be one value" };
  // The text of the file counts, as in a variable: YAML would read `0x10` and `1e3` as numbers.
  return { text: node.source ?? String(node.value) };
}

function readLabels(items: readonly { readonly key: Node; readonly value: Node | null }[]): Read {
  const pairs: string[] = [];
  for (const { key, value } of items) {
    const name = isScalar(key) ? String(key.value) : "";
    const isEmpty = value === null || (isScalar(value) && (value.value === null || value.value === ""));
    const read = isEmpty ? { text: "" } : readScalar(value);
    if ("problem" in read) return { problem: `must be a map of texts, and "${name}" is not a text` };
    if (/[=,]/.test(name) || read.text.includes(","))
      return { problem: `cannot hold "${name}": a label has no comma in it, and its key no "="` };
    pairs.push(`${name}=${read.text}`);
  }
  return pairs.length === 0 ? { problem: "has no value" } : { text: pairs.join(",") };
}
