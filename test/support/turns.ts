/**
 * When a test file of a parallel run begins. Most files mostly wait, so a run has more processes than the machine has
 * processors. A few files are always under way. While the processors are idle, one more begins at each look, and one in
 * place of each that ends. So files that wait fill the machine, and files that compute do not slow each other down.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { cpus } from "node:os";

/** The port on which mocha's main process lets files begin; absent in a run of single files. */
const PORT_VARIABLE = "MILLRACE_TEST_TURNS_PORT";
/** How many files are under way whatever the processors do; undefined when a run has no more processes than that. */
const ALWAYS = process.env["MILLRACE_TEST_ALWAYS"];
/**
 * How often the processors are looked at. A file that has begun shows in the next look. The kernel counts time in pieces of
 * 10 ms, so a much shorter look would be a guess. Half of all files end within a second: looks that are a second apart let too few begin.
 */
const LOOK_MS = 200;
/** The part of all processors that must have been idle for one more file to begin: what a file takes of two in the mean. */
const IDLE_PART = 0.15;

interface Times {
  readonly idle: number;
  readonly all: number;
}

function timesNow(): Times {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((each) => Object.values(each))) };
}

/** Lets the files of this run begin, from mocha's main process. Answers a function that ends this. */
export async function giveTurns(): Promise<() => void> {
  if (ALWAYS === undefined) return () => {};
  const always = Number(ALWAYS);
  const waiting: Socket[] = [];
  const begun = new Set<Socket>();
  let isIdle = false;
  const letNextBegin = (): void => {
    const socket = waiting.shift();
    if (socket === undefined) return;
    begun.add(socket);
    socket.write("begin");
  };
  // A file keeps its connection until it has ended, so a process that dies gives back its turn.
  const listener = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("close", () => {
      if (!begun.delete(socket)) waiting.splice(waiting.indexOf(socket), 1);
      if (begun.size < always || isIdle) letNextBegin();
    });
    socket.resume();
    waiting.push(socket);
    if (begun.size < always) letNextBegin();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  process.env[PORT_VARIABLE] = `${(listener.address() as AddressInfo).port}`;
  let before = timesNow();
  const looks = setInterval(() => {
    const now = timesNow();
    isIdle = now.idle - before.idle > IDLE_PART * (now.all - before.all);
    if (isIdle) letNextBegin();
    before = now;
  }, LOOK_MS);
  looks.unref();
  return () => {
    clearInterval(looks);
    listener.close();
  };
}

let turn: Socket | undefined;

/** Resolves when the file of this process may begin. */
export async function takeTurn(): Promise<void> {
  const port = process.env[PORT_VARIABLE];
  if (port === undefined) return;
  turn = connect(Number(port), "127.0.0.1");
  await once(turn, "data");
  // It lasts as long as the file, and is nothing that the file has opened.
  turn.unref();
}

/** The file of this process has ended. */
export function endTurn(): void {
  turn?.destroy();
  turn = undefined;
}
