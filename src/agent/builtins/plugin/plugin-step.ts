/** A step that uses a plugin: where its plugin comes from, and the command that runs its action. */
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import type { Dispatch } from "../../../../proto/generated/agent/v1/agent.ts";
import type { PullPluginResponse } from "../../../../proto/generated/gateway/v1/gateway.ts";
import { isArtifactPath } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { newestMatching } from "../../../domain/plugin-versions.ts";
import {
  actionOf,
  MANIFEST_FILE,
  PLUGIN_BOUNDS,
  type PluginManifest,
  splitReference,
} from "../../../domain/plugins.ts";
import { checkArgs } from "../../../plugins/args-check.ts";
import { parseManifest } from "../../../plugins/manifest.ts";
import { callWithRetries, type GatewayAccess } from "../../connection/gateway-call.ts";
import type { PluginCache } from "./plugin-cache.ts";
import { parseArguments, type PreparedCommand } from "../shell-step.ts";

/** Where an agent has plugins from. */
export interface PluginSources {
  readonly cache: PluginCache;
  /** Folders of the operator, in which a plugin is `<its name>/plugin.yaml`; looked through in order. */
  readonly dirs: readonly string[];
}

interface Surroundings extends PluginSources {
  /** Of the step. */
  readonly env: Readonly<Record<string, string>>;
  /** For this user alone. */
  readonly scratchDir: string;
  readonly gateway: GatewayAccess;
  readonly signal: AbortSignal;
}

type PluginDispatch = Pick<Dispatch, "uses" | "action" | "argsJson" | "plugin" | "stepRunId" | "token">;

/**
 * Prepares the command of a step, fetching its plugin when it has to be. Its arguments are a file that the process reads as
 * its standard input. Rejects with what is wrong with the plugin or the arguments, `unavailable` when it cannot be fetched
 * now, or the reason of `signal`.
 */
export async function preparePlugin(dispatch: PluginDispatch, surroundings: Surroundings): Promise<PreparedCommand> {
  const args = parseArguments(dispatch.argsJson);
  const plugin = await findPlugin(dispatch, surroundings);
  try {
    const { folder } = plugin;
    const manifest = readManifestIn(folder);
    const [name, action] = chooseAction(manifest, dispatch);
    refusePlatform(manifest);
    const problems = checkArgs(action.args, args);
    if (problems.length > 0) throw brokenArgs(manifest, name, problems);
    const input = join(surroundings.scratchDir, `args-${randomUUID()}`);
    writeFileSync(input, JSON.stringify(args), { mode: 0o600, flag: "wx" });
    const words = action.command.map((word) => (word.startsWith("./") ? join(folder, word) : word));
    return {
      command: words as [string, ...string[]],
      stdin: input,
      env: { ...surroundings.env, MILLRACE_PLUGIN_DIR: folder, MILLRACE_ACTION: name },
      dispose: () => {
        rmSync(input, { force: true });
        plugin.release();
      },
    };
  } catch (error) {
    plugin.release();
    throw error;
  }
}

interface FoundFolder {
  readonly folder: string;
  release(): void;
}

async function findPlugin(
  dispatch: PluginDispatch,
  { cache, dirs, gateway, signal }: Surroundings,
): Promise<FoundFolder> {
  const { uses, plugin } = dispatch;
  if (plugin === undefined) return { folder: findLocally(uses, dirs), release: () => {} };
  const { sha256 } = plugin;
  const sizeBytes = Number(plugin.sizeBytes);
  if (sizeBytes > PLUGIN_BOUNDS.packedBytes)
    throw new MillraceError("too_large", `the package of ${uses} is too large`);
  const fetch = () => fetchPackage(dispatch, sizeBytes, gateway, signal);
  return cache.obtain({ uses, sha256, sizeBytes, fetch, signal });
}

/** After a break from where it stood on. */
async function fetchPackage(
  { uses, stepRunId, token }: PluginDispatch,
  sizeBytes: number,
  gateway: GatewayAccess,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const packed = Buffer.alloc(sizeBytes);
  let filled = 0;
  await callWithRetries<never, PullPluginResponse, void>(
    gateway,
    (client, metadata) => {
      const stream = client.pullPlugin({ stepRunId, token, offset: BigInt(filled) }, metadata);
      return Object.assign(stream, { write: () => {} });
    },
    async ({ next, onProgress }) => {
      while (filled < sizeBytes) {
        const { data } = await next();
        if (filled + data.length > sizeBytes) {
          throw new MillraceError(
            "conflict",
            `the package of ${uses} is larger than the ${sizeBytes} bytes it was planned with`,
          );
        }
        filled += data.copy(packed, filled);
        onProgress();
      }
    },
    signal,
  );
  return packed;
}

function findLocally(uses: string, dirs: readonly string[]): string {
  const { name, version: wanted } = splitReference(uses);
  const others: string[] = [];
  for (const dir of isArtifactPath(name) ? dirs : []) {
    const folder = join(dir, name);
    if (readText(folder) === undefined) continue;
    const { version } = readManifestIn(folder);
    if (newestMatching(wanted, [version]) !== undefined) return realpathSync(folder);
    others.push(`${version} in ${dir}`);
  }
  const here =
    dirs.length === 0
      ? "this agent has no plugin folders"
      : others.length === 0
        ? `this agent has it in none of its plugin folders (${dirs.join(", ")})`
        : `this agent has ${others.join(", ")}`;
  const text = `there is no plugin ${uses}: the registry did not know it when the run was planned, and ${here}`;
  throw new MillraceError("not_found", text);
}

/** Throws `malformed_request` with every problem of the manifest. */
function readManifestIn(folder: string): PluginManifest {
  const text = readText(folder);
  if (text === undefined) throw new MillraceError("not_found", `${folder} has no ${MANIFEST_FILE}`);
  return parseManifest(text);
}

/** Undefined where there is none; bounded, whatever stands there. */
function readText(folder: string): string | undefined {
  let file: number;
  try {
    file = openSync(join(folder, MANIFEST_FILE), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    if (stats.size <= PLUGIN_BOUNDS.manifestBytes) return readFileSync(file, "utf8");
    throw new MillraceError(
      "too_large",
      `${join(folder, MANIFEST_FILE)} has more than ${PLUGIN_BOUNDS.manifestBytes} bytes`,
    );
  } finally {
    closeSync(file);
  }
}

function chooseAction(manifest: PluginManifest, { uses, action }: PluginDispatch) {
  const chosen = actionOf(manifest, action);
  if (chosen !== undefined) return chosen;
  const what =
    action === "" ? "has several actions and no default: say which with `action`" : `has no action "${action}"`;
  throw new MillraceError("malformed_request", `${uses} ${what}; it has ${Object.keys(manifest.actions).join(", ")}`);
}

function refusePlatform({ name, platforms }: PluginManifest): void {
  const here = [platform(), `${platform()}/${arch()}`];
  if (platforms.length === 0 || platforms.some((each) => here.includes(each))) return;
  const text = `${name} runs on ${platforms.join(", ")}, and this agent is ${here[1]}: select agents by the labels os and arch`;
  throw new MillraceError("conflict", text);
}

function brokenArgs(
  { name, version }: PluginManifest,
  action: string,
  problems: ReturnType<typeof checkArgs>,
): MillraceError {
  const all = problems.map(({ path, message }) => `${path.length === 0 ? "args" : path.join(".")} ${message}`);
  return new MillraceError(
    "malformed_request",
    `the arguments of ${name}@${version} (${action}) break its schema: ${all.join("; ")}`,
  );
}
