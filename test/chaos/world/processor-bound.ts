/**
 * Holds every process that this process has started, directly or not, to a share of a core: each is put into a control
 * group of its own (Linux, cgroup v1 or v2, as root). A bound that holds at half a core does not hold only because the
 * machine is quick.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const V1 = "/sys/fs/cgroup/cpu";
const V2 = "/sys/fs/cgroup";
const PERIOD_US = 20_000;
const LOOK_MS = 100;

export class ProcessorBound {
  readonly #share: number;
  readonly #isV2 = existsSync(join(V2, "cgroup.controllers"));
  readonly #root = this.#isV2 ? V2 : V1;
  readonly #folder = join(this.#root, `millrace-bound-${process.pid}`);
  /** By process. */
  readonly #groups = new Map<number, string>();
  #isOver = false;
  #looking: Promise<void> = Promise.resolve();

  private constructor(share: number) {
    this.#share = share;
  }

  /** `share`: of one core, such as 0.5. Rejects where this process may make no control group. */
  static async start(share: number): Promise<ProcessorBound> {
    const bound = new ProcessorBound(share);
    await mkdir(bound.#folder);
    if (bound.#isV2) await writeFile(join(bound.#folder, "cgroup.subtree_control"), "+cpu");
    bound.#looking = bound.#keepLooking();
    return bound;
  }

  /** Ends the bound. Answers how often the processes were held up, for people. */
  async end(): Promise<string> {
    this.#isOver = true;
    await this.#looking;
    let [periods, held] = [0, 0];
    for (const [pid, group] of this.#groups) {
      const stat = await readFile(join(group, "cpu.stat"), "utf8");
      periods += Number(/nr_periods (\d+)/.exec(stat)?.[1] ?? 0);
      held += Number(/nr_throttled (\d+)/.exec(stat)?.[1] ?? 0);
      // A process that still runs goes back, because a group with a process cannot be removed.
      await writeFile(join(this.#root, "cgroup.procs"), String(pid)).catch(() => undefined);
      await rmdir(group).catch(() => undefined);
    }
    await rmdir(this.#folder).catch(() => undefined);
    const share = ((held / Math.max(1, periods)) * 100).toFixed(1);
    return `${this.#groups.size} processes had ${this.#share} of a core each: they were held up in ${share} % of the time that they worked`;
  }

  async #keepLooking(): Promise<void> {
    while (!this.#isOver) {
      for (const pid of await descendants()) if (!this.#groups.has(pid)) await this.#hold(pid).catch(() => undefined);
      await sleep(LOOK_MS);
    }
  }

  async #hold(pid: number): Promise<void> {
    const group = join(this.#folder, String(pid));
    await mkdir(group);
    this.#groups.set(pid, group);
    const quota = Math.round(PERIOD_US * this.#share);
    if (this.#isV2) await writeFile(join(group, "cpu.max"), `${quota} ${PERIOD_US}`);
    else {
      await writeFile(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
      await writeFile(join(group, "cpu.cfs_quota_us"), String(quota));
    }
    await writeFile(join(group, "cgroup.procs"), String(pid));
  }
}

async function descendants(): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // The name of the program stands in parentheses and may hold anything.
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (parents.get(pid) === process.pid || isOurs(parents.get(pid)));
  return pids.filter(isOurs);
}
