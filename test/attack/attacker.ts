/**
 * The process of one attack: `attacker.ts NAME MILLISECONDS`, with the {@link Addresses} as JSON on its standard input.
 * It prints the counts of answers as JSON when the attack is over. An attack has a process of its own, so that the
 * probes measure the installation and not the attacker.
 */
import { setMaxListeners } from "node:events";
import { request } from "node:http";
import { constants, setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Addresses, Answer, Attack, CallOptions, Target } from "./attack.ts";

const GIVE_UP_MS = 2_000;

const [name = "", milliseconds = ""] = process.argv.slice(2);
const addresses = JSON.parse(await text(process.stdin)) as Addresses;
const counts = new Map<string, number>();
const count = (kind: string) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);

const { attack } = (await import(`./attacks/${name}.ts`)) as { readonly attack: Attack };
const signal = AbortSignal.timeout(Number(milliseconds));
setMaxListeners(0, signal);
// An attacker has a machine of its own. Here it gets the processor time that the installation leaves.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const target: Target = { ...addresses, count, call };
// Errors of sockets that an attack left open come whenever the installation closes them.
process.on("uncaughtException", (error) => count(`the attack itself failed: ${error.message}`));
try {
  // What has no answer a while after the end is given up.
  await Promise.race([attack.run(target, signal), pause(Number(milliseconds) + GIVE_UP_MS)]);
} catch (error) {
  if (!signal.aborted) count(`the attack itself failed: ${(error as Error).message}`);
}
process.stdout.write(JSON.stringify(Object.fromEntries(counts)), () => process.exit());

function call(method: string, path: string, { token, body }: CallOptions = {}): Promise<Answer | null> {
  const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      count(`no answer: ${error.code ?? error.message}`);
      resolve(null);
    };
    const outgoing = request(
      new URL(path, addresses.url),
      {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(sent === undefined ? {} : { "content-type": "application/json" }),
        },
      },
      (response) => {
        text(response).then((answer) => {
          const parsed = readAnswer(answer);
          const reason = (parsed as { readonly reason?: string } | null)?.reason;
          count(reason === undefined ? String(response.statusCode) : `${response.statusCode} ${reason}`);
          resolve({ status: response.statusCode!, body: parsed });
        }, fail);
      },
    );
    outgoing.on("error", fail);
    outgoing.end(sent);
  });
}

function readAnswer(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}
