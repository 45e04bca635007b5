/** The control channels of agents: one message loop for each stream, from its first message (`hello`) to its end. */
import type { ConnectRequest, ConnectResponse, Hello } from "../../proto/generated/agent/v1/agent.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentSession } from "../gateway/agent-session.ts";
import type { Admission } from "../gateway/admission.ts";
import { AgentSessions } from "../gateway/agent-sessions.ts";
import type { GatewayContext } from "../gateway/gateway-context.ts";
import { agentCaller } from "../gateway/registration.ts";
import { type Duplex, encoded } from "./calls.ts";
import type { EarlyDispatches } from "./messages/early-dispatches.ts";
import { connectResponse, readHeartbeat, readHello, readReport } from "./messages/agent-messages.ts";

const HELLO_WITHIN_MS = 10_000;

/** The open control channels of this gateway. */
export class AgentChannels {
  readonly #context: GatewayContext;
  readonly #admission: Admission;
  readonly #early: EarlyDispatches;
  readonly #sessions: AgentSessions;

  constructor(context: GatewayContext, admission: Admission, early: EarlyDispatches) {
    this.#context = context;
    this.#admission = admission;
    this.#early = early;
    this.#sessions = new AgentSessions(context);
  }

  /** Serves one stream. Resolves when the agent ends the stream; rejects with the reason when the gateway ends it. */
  async serve({ caller, requests, write, hungUp }: Duplex<ConnectRequest, ConnectResponse>): Promise<void> {
    const agent = agentCaller(caller);
    const hello = readHello(await firstMessage(requests));
    const { steps, jobIds } = hello.holdings;
    await this.#admission.admit(steps.length + jobIds.length > 0, hungUp);
    let end: (reason: MillraceError) => void = () => {};
    const ended = new Promise<never>((_, reject) => (end = reject));
    const session = this.#sessions.begin({
      caller: agent,
      hello,
      write: (message) => {
        const bytes = this.#early.find(message);
        return write(bytes === undefined ? connectResponse(message) : encoded(bytes));
      },
      end,
    });
    const close = (): void => session.close();
    hungUp.addEventListener("abort", close);
    if (hungUp.aborted) close();
    try {
      await Promise.race([ended, open(session, this.#context).then(() => readAll(requests, session))]);
      if (!hungUp.aborted) await session.leave();
    } finally {
      this.#sessions.forget(agent.agentId, session);
    }
  }

  /** Ends every stream, so that the agents connect to another gateway. */
  endAll(): void {
    this.#sessions.endAll();
  }
}

async function firstMessage(requests: AsyncIterator<ConnectRequest, undefined>): Promise<Hello> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const reason = new MillraceError("malformed_request", `no hello within ${HELLO_WITHIN_MS / 1_000} s`);
    timer = setTimeout(() => reject(reason), HELLO_WITHIN_MS);
  });
  try {
    const { value } = await Promise.race([requests.next(), timeout]);
    if (value?.message?.$case === "hello") return value.message.value;
    throw new MillraceError("malformed_request", "the first message of the stream must be `hello`");
  } finally {
    clearTimeout(timer);
  }
}

async function open(session: AgentSession, { log }: GatewayContext): Promise<void> {
  try {
    await session.open();
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    log.warn({ error: String(error) }, "an agent's stream could not be opened");
    throw new MillraceError("unavailable", "Redis or the store cannot be reached now: connect again");
  }
}

async function readAll(requests: AsyncIterator<ConnectRequest, undefined>, session: AgentSession): Promise<void> {
  for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
    const { message } = next.value;
    switch (message?.$case) {
      case "heartbeat":
        session.heartbeat(readHeartbeat(message.value));
        break;
      case "report":
        await session.report(readReport(message.value));
        break;
      case "drain":
        if (message.value.goodbye) await session.goodbye();
        else session.drain();
        break;
      case "hello":
        throw new MillraceError("malformed_request", "`hello` may come only once in a stream");
      case undefined:
        // The agent is newer than this gateway, which does not know this kind of message and ignores it.
        break;
    }
  }
}
