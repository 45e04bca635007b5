/** Calls the API of a repository's host. What goes wrong is a `GitFault`, with the words of the host and without the token. */
import type { z } from "zod";
import type { TokenSource } from "../git/credential.ts";
import { GitFault, type GitFaultKind } from "../git/git-fault.ts";
import { NoAnswerError, type ReceivedAnswer, type SendRequest } from "../outgoing/requests.ts";
import { isFailure, isRateLimit, jsonOf, retryAfterOf, shownAnswer, USUAL_RETRY_SECONDS, wordsOf } from "./answers.ts";
import { type ApiRequest, tokenOf } from "./dialect.ts";
import { DIALECTS, type ProviderPlace } from "./place.ts";
import { HOOK_DIALECTS } from "./hook-dialects.ts";
import type { CommitStatus, HostHook, HostUser, NewHostHook, NewProposal, Proposal, Provider } from "./provider.ts";

const LOOKING = "looking for webhooks";

/** What a call needs the right to. */
export type ApiRight = "proposals" | "statuses" | "webhooks";
/** A token, `user:token`, or tokens that are made when they are needed. */
export type ApiCredential = string | TokenSource<ApiRight>;

/** Opens a repository at its host. */
export function openProvider(place: ProviderPlace, credential: ApiCredential, send: SendRequest): Provider {
  return new ProviderClient(place, credential, send);
}

class ProviderClient implements Provider {
  readonly #place: ProviderPlace;
  readonly #credential: ApiCredential;
  readonly #send: SendRequest;
  /** The tokens that were sent, which no message may show. */
  readonly #sent = new Set<string>();

  constructor(place: ProviderPlace, credential: ApiCredential, send: SendRequest) {
    this.#place = place;
    this.#credential = credential;
    this.#send = send;
  }

  async find(branch: string, target: string): Promise<Proposal | undefined> {
    const { dialect, repository } = this.#dialect();
    const what = `looking for a ${dialect.noun}`;
    const answer = await this.#call(dialect.find(repository, branch, target), what, "proposals");
    if (answer.status !== 200 && answer.status === dialect.missing) return undefined;
    if (answer.status !== 200) throw this.#faultOf(answer, what);
    return this.#read(dialect.found, answer, what);
  }

  async propose(proposal: NewProposal): Promise<Proposal> {
    const { dialect, repository } = this.#dialect();
    const what = `opening a ${dialect.noun}`;
    const open = async () => {
      const found = await this.find(proposal.branch, proposal.target);
      return found?.isOpen === true ? found : undefined;
    };
    let answer: ReceivedAnswer;
    try {
      answer = await this.#call(dialect.create(repository, proposal), what, "proposals");
    } catch (error) {
      // The host may have opened it before it broke off.
      const found = error instanceof GitFault ? await open().catch(() => undefined) : undefined;
      if (found !== undefined) return found;
      throw error;
    }
    if (answer.status === 201) return this.#read(dialect.created, answer, what);
    const found = dialect.exists.includes(answer.status) ? await open() : undefined;
    if (found !== undefined) return found;
    throw this.#faultOf(answer, what);
  }

  async setStatus(status: CommitStatus, signal?: AbortSignal): Promise<void> {
    const { dialect, repository } = this.#dialect();
    const what = "setting a commit status";
    const answer = await this.#call(dialect.setStatus(repository, status), what, "statuses", signal);
    if (answer.status === 200 || answer.status === 201) return;
    if (answer.status === 400 && dialect.isShown?.(wordsOf(answer.text, []), status.state) === true) return;
    throw this.#faultOf(answer, what, "commit statuses");
  }

  async mayWrite(user: HostUser): Promise<boolean> {
    const { dialect, repository } = this.#dialect();
    const what = "asking what a user may do";
    const answer = await this.#call(dialect.permission(repository, user), what, "proposals");
    if (answer.status === 404) return false;
    if (answer.status !== 200) throw this.#faultOf(answer, what, "members of the repository");
    return this.#read(dialect.mayWrite, answer, what);
  }

  async headOf(number: number): Promise<string> {
    const { dialect, repository } = this.#dialect();
    const what = `reading a ${dialect.noun}`;
    const answer = await this.#call(dialect.proposal(repository, number), what, "proposals");
    if (answer.status !== 200) throw this.#faultOf(answer, what);
    return this.#read(dialect.head, answer, what);
  }

  async hooks(): Promise<readonly HostHook[]> {
    const { dialect, repository } = this.#hooks();
    const answer = await this.#call(dialect.list(repository), LOOKING, "webhooks");
    if (answer.status !== 200) throw this.#faultOf(answer, LOOKING, "webhooks");
    return this.#read(dialect.listed, answer, LOOKING);
  }

  async createHook(hook: NewHostHook): Promise<HostHook> {
    const { dialect, repository } = this.#hooks();
    return this.#write(dialect.create(repository, hook), 201, "making a webhook", hook.secret);
  }

  async updateHook(id: string, hook: NewHostHook): Promise<HostHook> {
    const { dialect, repository } = this.#hooks();
    return this.#write(dialect.update(repository, id, hook), 200, "changing a webhook", hook.secret);
  }

  async deleteHook(id: string): Promise<void> {
    const { dialect, repository } = this.#hooks();
    const what = "deleting a webhook";
    const answer = await this.#call(dialect.delete(repository, id), what, "webhooks");
    if (answer.status !== 204 && answer.status !== 404) throw this.#faultOf(answer, what, "webhooks");
  }

  async #write(request: ApiRequest, status: number, what: string, secret: string): Promise<HostHook> {
    const answer = await this.#call(request, what, "webhooks");
    if (answer.status !== status) throw this.#faultOf(answer, what, "webhooks", [secret]);
    return this.#read(this.#hooks().dialect.written, answer, what);
  }

  #hooks() {
    const { name, repository } = this.#place;
    return { dialect: HOOK_DIALECTS[name], repository };
  }

  #dialect() {
    const { name, repository } = this.#place;
    return { dialect: DIALECTS[name], repository };
  }

  /** A call is made once more when the host refuses a token before its time: its right may have been changed. */
  async #call(
    request: ApiRequest,
    what: string,
    right: ApiRight,
    signal = new AbortController().signal,
  ): Promise<ReceivedAnswer> {
    const source = this.#credential;
    if (typeof source === "string") return this.#callWith(source, request, what, signal);
    const token = await source.token(right);
    const answer = await this.#callWith(token, request, what, signal);
    if (answer.status !== 401) return answer;
    source.forget(token);
    return this.#callWith(await source.token(right), request, what, signal);
  }

  async #callWith(
    credential: string,
    { method, path, body }: ApiRequest,
    what: string,
    signal: AbortSignal,
  ): Promise<ReceivedAnswer> {
    const { name, api } = this.#place;
    this.#sent.add(credential);
    const headers = {
      ...DIALECTS[name].headers(credential),
      "user-agent": "millrace",
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const text = body === undefined ? "" : JSON.stringify(body);
    try {
      return await this.#send({ method, url: `${api}${path}`, headers, body: text }, signal);
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      throw this.#fault("unreachable", what, error.message);
    }
  }

  #read<T>(shape: z.ZodType<T>, { text }: ReceivedAnswer, what: string): T {
    const read = shape.safeParse(jsonOf(text));
    if (read.success) return read.data;
    const at = read.error.issues[0]?.path.join(".") ?? "";
    const where = at === "" ? "is not what its API says" : `has no good ${at}`;
    throw this.#fault("cutOff", what, `the answer ${where}: check \`repoProvider\`, or repeat the call`);
  }

  #faultOf(
    answer: ReceivedAnswer,
    what: string,
    needed = `${DIALECTS[this.#place.name].noun}s`,
    secrets: readonly string[] = [],
  ): GitFault {
    const { status } = answer;
    const words = shownAnswer(answer, [...this.#secrets(), ...secrets]);
    const retryAfterSeconds = retryAfterOf(answer);
    if (isRateLimit(answer)) return this.#fault("tooMany", what, words, retryAfterSeconds ?? USUAL_RETRY_SECONDS);
    if (isFailure(answer)) return this.#fault("unreachable", what, words, retryAfterSeconds);
    switch (status) {
      case 401:
        return this.#fault("authentication", what, `${words}: renew the token`);
      case 403:
        return this.#fault("readOnly", what, `${words}: let the token read and write ${needed}`);
      case 404:
        return this.#fault("notFound", what, `${words}: there is no such repository, or it is hidden from the token`);
    }
    if (status >= 300 && status < 400) return this.#fault("redirected", what, `${words}: correct \`repoUrl\``);
    return this.#fault("refused", what, words);
  }

  #secrets(): readonly string[] {
    return [...this.#sent].flatMap((credential) => [
      credential,
      tokenOf(credential),
      Buffer.from(credential).toString("base64"),
    ]);
  }

  #fault(kind: GitFaultKind, what: string, words: string, retryAfterSeconds: number | null = null): GitFault {
    const { name, api } = this.#place;
    const message = `${what} at ${name} (${new URL(api).host}): ${words}`;
    return new GitFault(kind, message, { isOfApi: true, retryAfterSeconds });
  }
}
