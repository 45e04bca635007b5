/**
 * Writes the lines of many steps at a steady pace. One process writes into the standard output of every step, so that the
 * benchmark costs little: a process for each step would take a quarter of the machine only to wake up.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";

export interface Pace {
  readonly linesPerSecond: number;
  readonly seconds: number;
}

/**
 * A Perl program. The lines of all steps are spread evenly over the time. Each holds its number and the time of its writing,
 * by the monotonic clock, which all processes share. In the end it opens the pipe on which the steps wait.
 */
const PROGRAM = String.raw`
use strict; use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
my ($rate, $count, $folder) = @ARGV;
opendir(my $pids, "$folder/pids") or die; my @outs;
for my $pid (grep { /^\d+$/ } readdir $pids) { open(my $out, ">>", "/proc/$pid/fd/1") or die "$pid: $!"; push @outs, $out; }
my $from = clock_gettime(CLOCK_MONOTONIC);
for my $line (1 .. $count) { for my $at (0 .. $#outs) {
  my $left = $from + ($line - 1 + $at / @outs) / $rate - clock_gettime(CLOCK_MONOTONIC);
  sleep($left < 0.001 ? 0.001 : $left) if $left > 0;
  syswrite($outs[$at], sprintf("%d %.0f src/packages/module-%d.ts and its tests are compiled\n",
    $line, clock_gettime(CLOCK_MONOTONIC) * 1e9, $line));
} }
open(my $end, ">", "$folder/end"); sleep(1);`;

export class LinePacer {
  readonly #folder: string;
  #pid = 0;

  static async create(folder: string): Promise<LinePacer> {
    await mkdir(`${folder}/pids`, { recursive: true });
    execFileSync("mkfifo", [`${folder}/end`]);
    return new LinePacer(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** What a step runs: it says which process it is, and waits for the end. */
  get script(): string {
    return `echo $$ >${this.#folder}/pids/$$; read line <${this.#folder}/end; exit 0`;
  }

  get pid(): number {
    return this.#pid;
  }

  /** Writes the lines of all steps that wait. */
  start({ linesPerSecond, seconds }: Pace): void {
    const args = ["-e", PROGRAM, String(linesPerSecond), String(linesPerSecond * seconds), this.#folder];
    const program = spawn("perl", args, { stdio: ["ignore", "inherit", "inherit"] });
    this.#pid = program.pid!;
  }
}
