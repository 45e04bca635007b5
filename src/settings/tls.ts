/** The settings of the listeners' TLS, whose rows are in the table of settings: their names and their checks. */
import { z } from "zod";

/** The PEM files of one listener. Their content may change while it listens. */
export interface TlsFileNames {
  /** The common beginning of the variables that name the files, for example `MILLRACE_GRPC_TLS`. */
  readonly prefix: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Callers must present a certificate that one of these authorities signed. Null: callers need no certificate. */
  readonly clientCaFile: string | null;
}

const TLS_LISTENERS = ["HTTP", "GRPC", "METRICS"] as const;
export type TlsListener = Lowercase<(typeof TLS_LISTENERS)[number]>;

const file = z.string().optional();

export const TLS_SETTINGS = {
  MILLRACE_HTTP_TLS_CERT_FILE: file,
  MILLRACE_HTTP_TLS_KEY_FILE: file,
  MILLRACE_HTTP_TLS_CLIENT_CA_FILE: file,
  MILLRACE_GRPC_TLS_CERT_FILE: file,
  MILLRACE_GRPC_TLS_KEY_FILE: file,
  MILLRACE_GRPC_TLS_CLIENT_CA_FILE: file,
  MILLRACE_METRICS_TLS_CERT_FILE: file,
  MILLRACE_METRICS_TLS_KEY_FILE: file,
  MILLRACE_METRICS_TLS_CLIENT_CA_FILE: file,
} as const;

type Read = Readonly<Partial<Record<keyof typeof TLS_SETTINGS, string | undefined>>>;

export function tlsOf(read: Read, listener: (typeof TLS_LISTENERS)[number]): TlsFileNames | null {
  const prefix = `MILLRACE_${listener}_TLS` as const;
  const certificateFile = read[`${prefix}_CERT_FILE`];
  const keyFile = read[`${prefix}_KEY_FILE`];
  if (certificateFile === undefined || keyFile === undefined) return null;
  return { prefix, certificateFile, keyFile, clientCaFile: read[`${prefix}_CLIENT_CA_FILE`] ?? null };
}

/** The settings that are missing beside others, each with why. */
export function tlsProblems(read: Read): readonly (readonly [name: string, message: string])[] {
  return TLS_LISTENERS.flatMap((listener) => {
    const prefix = `MILLRACE_${listener}_TLS` as const;
    const problems: [string, string][] = [];
    const certificate = read[`${prefix}_CERT_FILE`];
    const key = read[`${prefix}_KEY_FILE`];
    if (certificate === undefined && key !== undefined)
      problems.push([`${prefix}_CERT_FILE`, `is required with ${prefix}_KEY_FILE`]);
    if (certificate !== undefined && key === undefined)
      problems.push([`${prefix}_KEY_FILE`, `is required with ${prefix}_CERT_FILE`]);
    if (read[`${prefix}_CLIENT_CA_FILE`] !== undefined && certificate === undefined) {
      const why = `is required with ${prefix}_CLIENT_CA_FILE: callers show theirs over TLS alone`;
      problems.push([`${prefix}_CERT_FILE`, why]);
    }
    return problems;
  });
}
