import { Agent, request } from "node:http";
import type { Attack, Target } from "../attack.ts";

const AT_ONCE = 1_500;
/** Each address of the loopback network counts as a caller of its own. */
const ADDRESSES = 250;

export const attack: Attack = {
  name: "wrong-logins",
  title: "keeps 1,500 wrong logins in hand, from 250 addresses",
  as: "anyone",
  async run(target, signal) {
    const agents = Array.from(
      { length: ADDRESSES },
      (_, index) => new Agent({ keepAlive: true, localAddress: `127.0.1.${index + 1}` }),
    );
    const attackOn = async (start: number) => {
      for (let tries = 0; !signal.aborted; tries++) {
        const answer = await login(target, agents[start % ADDRESSES]!, `user ${start} ${tries}`);
        target.count(answer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attackOn(index)));
  },
};

function login({ url }: Target, agent: Agent, name: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json" };
    const sent = request(`${url}/api/v1/auth/login`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(String(response.statusCode)));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(`no answer: ${error.code ?? error.message}`));
    sent.end(JSON.stringify({ name, password: "not the password" }));
  });
}
