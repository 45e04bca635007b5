/** Calls of pipeline.v1 and steprun.v1 in tests, which name only the fields that matter. */
import { credentials, type handleUnaryCall, Metadata, type ServiceError } from "@grpc/grpc-js";
import { PipelineClient, type PipelineServer, PipelineService } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { StepRunClient, type StepRunServer, StepRunService } from "../../proto/generated/steprun/v1/steprun.ts";
import { firstStart } from "../support/first-start.ts";
import type { AppContext } from "../../src/app/context.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Role } from "../../src/domain/roles.ts";
import { bearer, reasonOf, refusal } from "./gateway.ts";

type RequestOf<H> = H extends handleUnaryCall<infer Q, infer _> ? Q : never;
type ResponseOf<H> = H extends handleUnaryCall<infer _, infer R> ? R : never;

export class UserCalls {
  readonly #pipelines: PipelineClient;
  readonly #stepRuns: StepRunClient;
  /** The administrator's token, which calls use by default. */
  readonly #token: string;

  /** Calls by a new administrator to a gateway on this machine. */
  static async open(context: AppContext, port: number): Promise<UserCalls> {
    return new UserCalls(`127.0.0.1:${port}`, (await firstStart(context)).adminToken!);
  }

  constructor(address: string, token: string) {
    this.#token = token;
    this.#pipelines = new PipelineClient(address, credentials.createInsecure());
    this.#stepRuns = new StepRunClient(address, credentials.createInsecure());
  }

  close(): void {
    this.#pipelines.close();
    this.#stepRuns.close();
  }

  pipeline<M extends keyof typeof PipelineService>(
    method: M,
    request: Partial<RequestOf<PipelineServer[M]>> = {},
    caller: string | Metadata = this.#token,
  ): Promise<ResponseOf<PipelineServer[M]>> {
    const empty = PipelineService[method].requestDeserialize(Buffer.alloc(0));
    return invoke(this.#pipelines, method, { ...empty, ...request }, caller);
  }

  stepRun<M extends keyof typeof StepRunService>(
    method: M,
    request: Partial<RequestOf<StepRunServer[M]>> = {},
    caller: string | Metadata = this.#token,
  ): Promise<ResponseOf<StepRunServer[M]>> {
    const empty = StepRunService[method].requestDeserialize(Buffer.alloc(0));
    return invoke(this.#stepRuns, method, { ...empty, ...request }, caller);
  }
}

/** A token of a new user of that role, without scopes. */
export async function tokenOf(context: AppContext, role: Role): Promise<string> {
  const userId = newId("usr");
  const user = { userId, name: userId, role, passwordHash: "", createdAt: 0, disabled: false } as const;
  await context.stores.identity.createUser(user);
  return issueToken(context, { kind: "personal", subject: userId, name: "test" });
}

/** The gRPC status, the reason and the text with which a call is refused. */
export async function refusalOf(promise: Promise<unknown>): Promise<{ code: number; reason: string; text: string }> {
  const error = await refusal(promise);
  return { code: error.code, reason: reasonOf(error), text: error.details };
}

function invoke<R>(client: object, method: string, request: unknown, caller: string | Metadata): Promise<R> {
  const metadata = typeof caller === "string" ? bearer(caller) : caller;
  type Method = (
    request: unknown,
    metadata: Metadata,
    options: { deadline: number },
    answer: (error: ServiceError | null, response: R) => void,
  ) => void;
  return new Promise((resolve, reject) => {
    const call = (client as Record<string, Method>)[method]!;
    call.call(client, request, metadata, { deadline: Date.now() + 10_000 }, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}
