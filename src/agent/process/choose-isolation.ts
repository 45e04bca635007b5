/** Finds out at the start of an agent how this machine lets it isolate steps, by starting a process in each way. */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { ownPath } from "../../program-path.ts";
import { endCgroup, hierarchiesOf } from "./cgroups.ts";
import type { Launch, ProcessExit } from "./launch-protocol.ts";
import { Starter } from "./starter.ts";
import { LocalKeeper } from "./step-keeper.ts";
import { BY_MARK, cgroupFolderOf, ISOLATION_KINDS, type IsolationKind, type StepIsolation } from "./step-isolation.ts";
import { SupervisedProcess } from "./supervisor.ts";
import { UsageMeter } from "./usage-meter.ts";

/** A process that takes longer to start and end counts as impossible. */
const PROBE_MS = 5_000;
const PROBE_EXIT = 7;
/** The file of the data directory that names the cgroup of the agent's steps. */
const RECORD = "cgroup";

const OBSTACLES: Readonly<Record<IsolationKind, string>> = {
  cgroup: "the agent may not make cgroups below its own, or none is mounted",
  "pid-namespace": "the agent may not make PID namespaces, or `unshare` of util-linux is missing",
  subreaper: "neither perl nor python3 can start processes here",
  mark: "",
};

/**
 * The best isolation that works here, or the one that is asked for. First ends what an earlier agent has left in its
 * cgroups, so call it only while this agent owns the data directory. Throws `malformed_request` when the isolation that
 * is asked for does not work.
 */
export async function chooseIsolation(
  wanted: IsolationKind | "auto",
  dataDir: string,
  log: Logger,
): Promise<StepIsolation> {
  await endEarlier(dataDir, log);
  const isForced = wanted !== "auto";
  const missing: string[] = [];
  for (const kind of isForced ? [wanted] : ISOLATION_KINDS) {
    for (const candidate of candidatesOf(kind, dataDir)) {
      if (kind !== "mark" && !(await works(candidate, dataDir))) continue;
      const chosen = await withStarter(candidate);
      const text = `processes of steps are found by their ${kind}`;
      const isWeak = kind === "mark" && !isForced && process.platform === "linux";
      if (isWeak) log.warn({ missing }, `${text} alone: those that clear their environment may outlive their step`);
      else log.info(chosen, text);
      return chosen;
    }
    missing.push(`${kind}: ${OBSTACLES[kind]}`);
  }
  throw new MillraceError("malformed_request", `this machine lacks the step isolation ${missing.join("; ")}`);
}

function candidatesOf(kind: IsolationKind, dataDir: string): StepIsolation[] {
  if (kind === "mark") return [BY_MARK];
  if (process.platform !== "linux") return [];
  if (kind === "pid-namespace") return [{ kind }];
  if (kind === "subreaper") return (["perl", "python3"] as const).map((interpreter) => ({ kind, interpreter }));
  return hierarchies().map(({ own }) => ({ kind, folder: join(own, nameOf(dataDir)) }));
}

/** The name of an agent's cgroup: no two agents of a machine use the same data directory. */
function nameOf(dataDir: string): string {
  return `millrace-${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`;
}

function hierarchies() {
  try {
    return hierarchiesOf(readFileSync("/proc/self/cgroup", "latin1"), readFileSync("/proc/self/mountinfo", "latin1"));
  } catch {
    return [];
  }
}

/**
 * Kills what is left in the cgroup of an earlier agent with this data directory. That agent may have been started in
 * another cgroup, so the data directory holds the path.
 */
async function endEarlier(dataDir: string, log: Logger): Promise<void> {
  const folder = readRecord(dataDir);
  if (folder === undefined || basename(folder) !== nameOf(dataDir)) return;
  if (!(await endCgroup(folder))) log.warn({ folder }, "processes of an earlier agent's steps cannot be killed");
}

function readRecord(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, RECORD), "utf8").trim();
  } catch {
    return undefined;
  }
}

/** The same isolation with a starter, where one works. Without one, each step has a supervisor. */
async function withStarter(isolation: StepIsolation): Promise<StepIsolation> {
  if (isolation.kind !== "cgroup" && isolation.kind !== "mark") return isolation;
  const mark = `probe-${randomUUID()};`;
  let starter: Starter;
  try {
    const options = { leaseMark: mark, prefix: mark, cgroupFolder: cgroupFolderOf(isolation) };
    starter = new Starter({ ...options, keeper: new LocalKeeper(new UsageMeter()) });
  } catch {
    return isolation;
  }
  const doesWork = await endsAsProbe(starter.start(probeOf(mark)), () => starter.end());
  starter.end();
  await starter.gone;
  return doesWork ? { ...isolation, starter: "perl" } : isolation;
}

/** Starts a process under the isolation, and ends it. */
async function works(isolation: StepIsolation, dataDir: string): Promise<boolean> {
  const mark = `probe-${randomUUID()};`;
  let supervised: SupervisedProcess;
  try {
    if (isolation.kind === "cgroup") writeFileSync(join(dataDir, RECORD), `${isolation.folder}\n`);
    supervised = new SupervisedProcess(mark, mark, isolation);
  } catch {
    return false;
  }
  supervised.become(probeOf(mark));
  const doesWork = await endsAsProbe(supervised, () => void supervised.kill());
  await supervised.kill();
  return doesWork;
}

/** A process that shows by its exit code that it ran. */
function probeOf(mark: string): Launch {
  return {
    command: ["/bin/sh", "-c", `exit ${PROBE_EXIT}`],
    cwd: "/",
    env: { PATH: ownPath() },
    stdout: "/dev/null",
    stderr: "/dev/null",
    leaseMark: mark,
    permitFile: "/dev/null",
  };
}

/** A process whose begin may be refused, or that exists already. */
interface Probe {
  readonly begun?: Promise<void>;
  readonly exited: Promise<ProcessExit | undefined>;
}

/** Whether the process has run to its end. `end` is called when that takes too long. */
async function endsAsProbe({ begun, exited }: Probe, end: () => void): Promise<boolean> {
  const timer = setTimeout(end, PROBE_MS);
  try {
    await begun;
    return (await exited)?.code === PROBE_EXIT;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
