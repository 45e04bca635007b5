/**
 * Control groups of steps. A process and everything that it starts stay in their cgroup until they are moved out of it.
 * Version 2 kills a cgroup with one write to `cgroup.kill`. Version 1 freezes a cgroup, or forbids it new processes, and
 * then its processes are killed one by one.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that cannot die (hung disk) is not awaited any longer. */
const ROUNDS = 200;
const ROUND_MS = 1;

/** A mounted hierarchy of cgroups, and the cgroup of this process in it. */
export interface Hierarchy {
  /** The controller by which a cgroup of version 1 is stopped; `kill` for version 2. */
  readonly control: "kill" | "freezer" | "pids";
  /** The path of this process's own cgroup. */
  readonly own: string;
}

/**
 * The hierarchies that can end a step, in the order of preference. The arguments are the texts of /proc/self/cgroup and
 * /proc/self/mountinfo.
 */
export function hierarchiesOf(cgroup: string, mountinfo: string): Hierarchy[] {
  return (["kill", "freezer", "pids"] as const).flatMap((control) => {
    const own = ownGroup(cgroup, mountinfo, control === "kill" ? null : control);
    return own === undefined ? [] : [{ control, own }];
  });
}

/** The cgroup of this process in the hierarchy of a controller of version 1, or in that of version 2 (null). */
function ownGroup(cgroup: string, mountinfo: string, controller: string | null): string | undefined {
  const line = cgroup.split("\n").find((each) => {
    const [number, controllers = ""] = each.split(":");
    return controller === null ? number === "0" && controllers === "" : controllers.split(",").includes(controller);
  });
  const path = line?.split(":").slice(2).join(":");
  const mount = mountinfo
    .split("\n")
    .flatMap(readMount)
    .find(({ type, options }) =>
      controller === null ? type === "cgroup2" : type === "cgroup" && options.includes(controller),
    );
  if (path === undefined || mount === undefined) return undefined;
  // A container may see only a part of the hierarchy.
  const inside = mount.root === "/" ? path : path.startsWith(mount.root) ? path.slice(mount.root.length) : undefined;
  return inside === undefined || inside.startsWith("/..") ? undefined : join(mount.point, inside);
}

export type Controller = "memory" | "pids" | "cpu";

/** A cgroup below which the agent makes cgroups that have these controllers. */
export interface ControllerGroup {
  readonly folder: string;
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
}

/**
 * A cgroup `name` for each hierarchy that has some of the controllers. Undefined when this process has no cgroup with one
 * of them. In version 2, a cgroup passes controllers on only while it holds no process: where this process is alone in its
 * own, it moves into one below it. There, `steps` takes the place of a cgroup of that name: the cgroup of the agent's steps.
 */
export function controllerGroups(
  wanted: readonly Controller[],
  name: string,
  steps: string | undefined,
  { cgroup, mountinfo } = readOwnGroups(),
): readonly ControllerGroup[] | undefined {
  const own = ownGroup(cgroup, mountinfo, null);
  if (own !== undefined && passesOn(own, wanted)) {
    const folder = steps?.startsWith(`${own}/`) === true ? steps : join(own, name);
    makeCgroup(folder);
    return passesOn(folder, wanted) ? [{ folder, version: 2, controllers: wanted }] : undefined;
  }
  const groups = wanted.map((controller) => [controller, ownGroup(cgroup, mountinfo, controller)] as const);
  if (groups.some(([, folder]) => folder === undefined)) return undefined;
  // One hierarchy may have several controllers, such as `cpu,cpuacct`.
  return [...new Set(groups.map(([, folder]) => folder!))].map((folder) => ({
    folder: join(folder, name),
    version: 1,
    controllers: groups.filter(([, other]) => other === folder).map(([controller]) => controller),
  }));
}

function readOwnGroups(): { readonly cgroup: string; readonly mountinfo: string } {
  return { cgroup: read("/proc/self/cgroup") ?? "", mountinfo: read("/proc/self/mountinfo") ?? "" };
}

/** Makes a cgroup of version 2 pass controllers on to those below it, if it can. */
function passesOn(folder: string, wanted: readonly Controller[]): boolean {
  const available = (read(join(folder, "cgroup.controllers")) ?? "").trim().split(" ");
  if (!wanted.every((controller) => available.includes(controller))) return false;
  const control = join(folder, "cgroup.subtree_control");
  const isPassed = (): boolean => {
    write(control, wanted.map((controller) => `+${controller}`).join(" "));
    const passed = (read(control) ?? "").trim().split(" ");
    return wanted.every((controller) => passed.includes(controller));
  };
  if (isPassed()) return true;
  if ((read(join(folder, "cgroup.procs")) ?? "").trim() !== String(process.pid)) return false;
  try {
    mkdirSync(join(folder, "agent"), { recursive: true });
  } catch {
    return false;
  }
  write(join(folder, "agent", "cgroup.procs"), String(process.pid));
  return isPassed();
}

/** How many processes the kernel has killed for lack of memory, in the text of the events of a memory cgroup. */
export function oomKillsIn(text: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

function readMount(line: string) {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", point = ""] = before.split(" ");
  const [type = "", , options = ""] = after.split(" ");
  return type.startsWith("cgroup") ? [{ root, point, type, options: options.split(",") }] : [];
}

/** Creates a cgroup, and the cgroups above it. Throws when the system refuses. */
export function makeCgroup(folder: string): void {
  mkdirSync(folder, { recursive: true });
}

/** The ids of all processes in the cgroup and in those that its processes have made in it. */
export function processesOf(folder: string): number[] {
  return foldersIn(folder).flatMap((each) =>
    (read(join(each, "cgroup.procs")) ?? "").split("\n").filter(Boolean).map(Number),
  );
}

/**
 * Kills all processes of the cgroup, and removes it when none is left. Returns false when a process cannot die: then the
 * cgroup stays.
 */
export async function endCgroup(folder: string): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    if (removeCgroup(folder)) return true;
    killOnce(folder);
    await sleep(ROUND_MS);
  }
  return removeCgroup(folder);
}

/** Removes the cgroup and those in it. False when it holds a process. */
function removeCgroup(folder: string): boolean {
  try {
    for (const each of foldersIn(folder).toReversed()) rmdirSync(each);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function killOnce(folder: string): void {
  if (existsSync(join(folder, "cgroup.kill"))) return write(join(folder, "cgroup.kill"), "1");
  const folders = foldersIn(folder);
  write(join(folder, "freezer.state"), "FROZEN");
  write(join(folder, "pids.max"), "0");
  for (const pid of processesOf(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended meanwhile, or it belongs to another user.
    }
  }
  // A frozen process dies when it is thawed. A step may have frozen a cgroup of its own.
  for (const each of folders) write(join(each, "freezer.state"), "THAWED");
}

/** The cgroup and all cgroups in it, each before those in it. Empty when it does not exist. */
function foldersIn(folder: string): string[] {
  try {
    const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [folder, ...inner.flatMap(({ name }) => foldersIn(join(folder, name)))];
  } catch {
    return [];
  }
}

/** Writes to a file of the kernel. No effect when the file does not exist. */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "r+" });
  } catch {
    // The other version of cgroups, another controller, or the cgroup has gone.
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}
