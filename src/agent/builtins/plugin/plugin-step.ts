/** A step that uses a plugin: it finds the plugin, checks the arguments, and prepares the command of the action. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  cpSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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
import { giveTo, type Owner } from "../../process/step-user.ts";
import { callWithRetries, type GatewayAccess } from "../../connection/gateway-call.ts";
import type { PluginCache } from "./plugin-cache.ts";
import { parseArguments, type PreparedCommand } from "../shell-step.ts";

/** Where an agent finds plugins. */
export interface PluginSources {
  readonly cache: PluginCache;
  /**
   * The operator's folders, searched in order. A plugin is a folder `NAME` in one of them with a file `plugin.yaml`.
   */
  readonly dirs: readonly string[];
}

interface Surroundings extends PluginSources {
  /** The environment of the step. */
  readonly env: Readonly<Record<string, string>>;
  /** A folder that only this user may read. */
  readonly scratchDir: string;
  /** As whom steps run; undefined: as the agent. */
  readonly user: Owner | undefined;
  readonly gateway: GatewayAccess;
  /** A folder into which the plugin is copied, because the step sees no other; absent to run it where it is. */
  readonly copyTo?: string;
  readonly signal: AbortSignal;
}

type PluginDispatch = Pick<Dispatch, "uses" | "action" | "argsJson" | "plugin" | "container" | "stepRunId" | "token">;

/**
 * Prepares the command of a step, and fetches its plugin if necessary. The process reads its arguments as JSON from its
 * standard input. Rejects with the problem of the plugin or of the arguments, with `unavailable` when the plugin cannot
 * be fetched now, or with the reason of `signal`.
 */
export async function preparePlugin(dispatch: PluginDispatch, surroundings: Surroundings): Promise<PreparedCommand> {
  const args = parseArguments(dispatch.argsJson);
  const { copyTo } = surroundings;
  const found = await findPlugin(dispatch, surroundings);
  const plugin = copyTo === undefined ? found : copied(found, copyTo, surroundings.user);
  try {
    const { folder } = plugin;
    const manifest = readManifestIn(folder);
    const [name, action] = chooseAction(manifest, dispatch);
    refusePlatform(manifest);
    if (dispatch.container === undefined) refuseOutside(manifest);
    const problems = checkArgs(action.args, args);
    if (problems.length > 0) throw brokenArgs(manifest, name, problems);
    const input = join(surroundings.scratchDir, `args-${randomUUID()}`);
    writeFileSync(input, JSON.stringify(args), { mode: 0o600, flag: "wx" });
    giveTo(surroundings.user, input);
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

/** The same plugin as a copy, which is removed after the step. */
function copied(plugin: FoundFolder, copyTo: string, user: Owner | undefined): FoundFolder {
  const copy = join(copyTo, `plugin-${randomUUID()}`);
  try {
    cpSync(plugin.folder, copy, { recursive: true });
    giveTo(user, copy);
    return { folder: copy, release: () => rmSync(copy, { recursive: true, force: true }) };
  } finally {
    plugin.release();
  }
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

/** Fetches the package. After a broken call, the next one continues at the same offset. */
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

/** Throws `malformed_request` with all problems of the manifest, and `not_found` without one. */
function readManifestIn(folder: string): PluginManifest {
  const text = readText(folder);
  if (text === undefined) throw new MillraceError("not_found", `${folder} has no ${MANIFEST_FILE}`);
  return parseManifest(text);
}

/** The text of the manifest in a folder; undefined if there is none. Throws `too_large` for a file above the bound. */
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

/** The plan gives a plugin of the registry the container of its image. It knows no manifest of an operator's folder. */
function refuseOutside({ name, image }: PluginManifest): void {
  if (image === undefined) return;
  const text = `${name} runs in the image ${image}, and this step has no container: give it a \`container\`, or push the plugin to the registry`;
  throw new MillraceError("malformed_request", text);
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
