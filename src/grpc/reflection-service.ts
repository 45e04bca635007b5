/** grpc.reflection: the services and messages of this server, for tools such as grpcurl. Needs no token; the proto files are public. */
import { status } from "@grpc/grpc-js";
import type { ProtoFile } from "../../proto/generated/descriptors.ts";
import {
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  type ServerReflectionServer,
  ServerReflectionService,
} from "../../proto/generated/grpc/reflection/v1/reflection.ts";
import type { Logger } from "../domain/logger.ts";
import { requestsOf, serveStream } from "./calls.ts";

type Answer = ServerReflectionResponse["messageResponse"];
/** Loaded at the first question, because few installations are asked any. */
type ProtoFiles = typeof import("./proto-files.ts");

const V1_PATH = ServerReflectionService.serverReflectionInfo.path;

/** The version of the service that older tools use. Its messages are the same; only the name differs. */
export const ReflectionAlphaService = {
  serverReflectionInfo: {
    ...ServerReflectionService.serverReflectionInfo,
    path: V1_PATH.replace(".v1.", ".v1alpha."),
  },
} as const;

/** `services` are the full names of the services that the server offers. */
export function reflectionService(services: readonly string[], log: Logger): ServerReflectionServer {
  return {
    serverReflectionInfo: (call) =>
      serveStream<ServerReflectionResponse>(log, call, async (write, hungUp) => {
        for await (const originalRequest of requestsOf<ServerReflectionRequest>(call, hungUp)) {
          const messageResponse = answer(originalRequest, services, await import("./proto-files.ts"));
          await write({ validHost: originalRequest.host, originalRequest, messageResponse });
        }
      }),
  };
}

function answer(
  { messageRequest: asked }: ServerReflectionRequest,
  services: readonly string[],
  { FILES, FILE_OF_SYMBOL }: ProtoFiles,
): Answer {
  switch (asked?.$case) {
    case "listServices":
      return { $case: "listServicesResponse", value: { service: services.map((name) => ({ name })) } };
    case "fileByFilename":
      return filesFrom(FILES, FILES.get(asked.value), `file ${asked.value}`);
    case "fileContainingSymbol":
      return filesFrom(FILES, FILE_OF_SYMBOL.get(asked.value), `symbol ${asked.value}`);
    case "allExtensionNumbersOfType": {
      if (!FILE_OF_SYMBOL.has(asked.value)) return notFound(`type ${asked.value}`);
      const value = { baseTypeName: asked.value, extensionNumber: [] };
      return { $case: "allExtensionNumbersResponse", value };
    }
    case "fileContainingExtension":
      return notFound(`extension ${asked.value.extensionNumber} of ${asked.value.containingType}`);
    case undefined:
      return failure(status.INVALID_ARGUMENT, "the request has no question that this server knows");
  }
}

/** The file and every file that it imports, directly or through others. */
function filesFrom(files: ProtoFiles["FILES"], file: ProtoFile | undefined, what: string): Answer {
  if (file === undefined) return notFound(what);
  const found = new Set([file]);
  // The loop also visits the files that it adds to the set.
  for (const { imports } of found) for (const name of imports) found.add(files.get(name)!);
  const value = { fileDescriptorProto: [...found].map(({ base64 }) => Buffer.from(base64, "base64")) };
  return { $case: "fileDescriptorResponse", value };
}

const notFound = (what: string): Answer => failure(status.NOT_FOUND, `there is no ${what} here`);

const failure = (errorCode: number, errorMessage: string): Answer => ({
  $case: "errorResponse",
  value: { errorCode, errorMessage },
});
