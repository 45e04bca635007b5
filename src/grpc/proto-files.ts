/** The proto files of this server, by name and by what they declare. */
import { PROTO_FILES } from "../../proto/generated/descriptors.ts";

export const FILES = new Map(PROTO_FILES.map((file) => [file.name, file]));
export const FILE_OF_SYMBOL = new Map(
  PROTO_FILES.flatMap((file) => file.symbols.map((symbol) => [symbol, file] as const)),
);
