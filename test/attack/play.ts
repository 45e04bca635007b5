/** Plays attacks against one installation, and measures what its other users notice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { TSX } from "../support/test-programs.ts";
import type { Addresses, Attack } from "./attack.ts";
import { Installation } from "./installation.ts";
import { Probe, type ProbeFigures } from "./probe.ts";

const ATTACKER = join(import.meta.dirname, "attacker.ts");
const HEALTH_EVERY_MS = 50;
const TRIGGER_EVERY_MS = 200;
const MEMORY_EVERY_MS = 100;
/** An attacker that does not end on its own this long after its time is killed. */
const GRACE_MS = 30_000;

export interface Outcome {
  /** The names of the attacks that went on at once; none for the quiet time before. */
  readonly attacks: readonly string[];
  readonly health: ProbeFigures;
  readonly triggers: ProbeFigures;
  /** Bytes of resident memory of the control plane. */
  readonly memory: { readonly before: number; readonly peak: number; readonly after: number };
  readonly lostLeases: number;
  /** Whether the control plane runs after the attack. */
  readonly survived: boolean;
  /** Counts of the attackers' answers by kind. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface Plan {
  /** Each element is played on its own; its attacks are played at once. */
  readonly rounds: readonly (readonly Attack[])[];
  /** How long an attack goes on, in milliseconds. */
  readonly attackMs: number;
  /** How long after an attack its last figure of memory is taken, in milliseconds. */
  readonly restMs: number;
}

/** Plays the rounds one after the other, each against an installation of its own; a quiet one comes first. */
export async function* play({ rounds, attackMs, restMs }: Plan): AsyncGenerator<Outcome> {
  for (const attacks of [[], ...rounds]) yield playRound(attacks, attackMs, attacks.length === 0 ? 0 : restMs);
}

async function playRound(attacks: readonly Attack[], attackMs: number, restMs: number): Promise<Outcome> {
  const installation = await Installation.start();
  const health = new Probe(installation.health, HEALTH_EVERY_MS);
  const triggers = new Probe(installation.trigger, TRIGGER_EVERY_MS);
  try {
    // The first calls of a program are slow: its code is not yet compiled.
    await pause(2_000);
    health.take();
    triggers.take();
    const before = await installation.memory();
    let peak = before;
    const watch = setInterval(() => {
      void installation.memory().then((bytes) => (peak = Math.max(peak, bytes)));
    }, MEMORY_EVERY_MS);
    const lostBefore = installation.lostLeases;
    const counts = await Promise.all([
      pause(attackMs).then(() => ({})),
      ...attacks.map(({ name }) => attackWith(name, installation.addresses, attackMs)),
    ]);
    clearInterval(watch);
    await Promise.all([health.settle(), triggers.settle()]);
    const figures = { health: health.take(), triggers: triggers.take() };
    await pause(restMs);
    return {
      attacks: attacks.map(({ name }) => name),
      ...figures,
      memory: { before, peak, after: await installation.memory() },
      lostLeases: installation.lostLeases - lostBefore,
      survived: installation.alive,
      answers: sumOf(counts),
    };
  } finally {
    await Promise.all([health.end(), triggers.end()]);
    await installation.stop();
  }
}

/** Runs the attack in a process of its own, and answers its counts. */
export async function attackWith(
  name: string,
  addresses: Addresses,
  attackMs: number,
): Promise<Readonly<Record<string, number>>> {
  const child = spawn(process.execPath, ["--import", TSX, ATTACKER, name, String(attackMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(addresses));
  const killer = setTimeout(() => child.kill("SIGKILL"), attackMs + GRACE_MS);
  const [printed] = await Promise.all([text(child.stdout), once(child, "exit")]);
  clearTimeout(killer);
  return printed === "" ? { "the attacker did not end": 1 } : (JSON.parse(printed) as Record<string, number>);
}

function sumOf(counts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [kind, number] of counts.flatMap((each) => Object.entries(each))) {
    sums.set(kind, (sums.get(kind) ?? 0) + number);
  }
  return Object.fromEntries([...sums].toSorted(([a], [b]) => a.localeCompare(b)));
}
