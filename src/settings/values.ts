/**
 * Parsers for the values of variables: sizes, durations, addresses and others. Each error says what the value must be.
 */
import { isIP, isIPv4 } from "node:net";
import { z } from "zod";
import type { DiskFloor } from "../domain/disk-space.ts";
import { parseDuration } from "../domain/durations.ts";
import { type Labels, parseLabels } from "../domain/labels.ts";
import { type LabelQuota, MAX_RUNNING, type Quotas } from "../domain/quotas.ts";
import type { Bound } from "../domain/retention.ts";
import { parseBound } from "../domain/retention-text.ts";

/**
 * An address to listen on or to connect to. For a listener, an empty host means all interfaces, and port 0 a free port.
 */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export const address = z.string().transform((text, check): Address => {
  const parsed = /^(?:(?<bare>[^:[\]\s/]*)|\[(?<v6>[0-9A-Fa-f:.]+)\]):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(parsed?.["port"]);
  if (parsed === undefined || port > 65_535) {
    check.addIssue("must be host:port or :port, with a port up to 65535");
    return z.NEVER;
  }
  return { host: parsed["v6"] ?? parsed["bare"] ?? "", port };
});

/** Parses `host:port` or `:port`; undefined for any other text. */
export function parseAddress(text: string): Address | undefined {
  return address.safeParse(text).data;
}

export const labels = z.string().transform((text, check): Labels => {
  const read = parseLabels(text);
  if (read !== undefined) return read;
  check.addIssue("must be key=value pairs separated by commas, with one value for each key");
  return z.NEVER;
});

export const cluster = z
  .string()
  .transform((text) => text.split(",").map((node) => node.trim()))
  .pipe(z.array(address));

/** Images that jobs may use, separated by commas; `*` stands for any text. */
export const imagePatterns = z
  .string()
  .transform((text) => text.split(",").map((image) => image.trim()))
  .pipe(z.array(z.string().regex(/^[\w./:@*-]+$/, "must be references of images separated by commas")));

/** Addresses of one network, which share their leading bits. */
export interface Network {
  readonly address: string;
  /** Leading bits that all addresses of the network share. */
  readonly bits: number;
}

/** Reads `10.0.0.0/8`, `fd00::/8` or one address. Undefined for a text that is no network. */
function parseNetwork(text: string): Network | undefined {
  const [address, bits, ...rest] = text.split("/") as [string, ...string[]];
  if (isIP(address) === 0 || rest.length > 0) return undefined;
  const most = isIPv4(address) ? 32 : 128;
  if (bits === undefined) return { address, bits: most };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { address, bits: Number(bits) } : undefined;
}

/** Origins of pages, as browsers send them. */
export const origins = z.string().transform((text, check): readonly string[] | "*" => {
  if (text.trim() === "*") return "*";
  const list = text.split(",").map((origin) => origin.trim());
  if (
    list.every(
      (origin) => /^https?:\/\/[^*]+$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
    )
  ) {
    return list;
  }
  check.addIssue("must be origins such as https://ci.example.com, separated by commas, or *");
  return z.NEVER;
});

export const networks = z.string().transform((text, check): Network[] => {
  const parsed = text.split(",").map((part) => parseNetwork(part.trim()));
  if (parsed.every((network) => network !== undefined)) return parsed;
  check.addIssue("must be networks such as 10.0.0.0/8 or single addresses, separated by commas");
  return z.NEVER;
});

/** An address that is an origin alone; the value is the origin as browsers write it. `rule` stands in the message. */
export const originOf = (rule: string) =>
  z.string().transform((text, check): string => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain =
      url !== undefined && /^https?:$/.test(url.protocol) && [`${url.origin}/`, url.origin].includes(url.href);
    if (isPlain) return url.origin;
    check.addIssue(rule);
    return z.NEVER;
  });

export const publicUrl = originOf("must be an address such as https://ci.example.com, without a path");

export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`);

/** A number of processors, of which a part counts too. */
export const processors = z
  .string()
  .regex(/^\d{1,4}(?:\.\d{1,3})?$/, "must be a number of processors, such as 1.5")
  .transform(Number)
  .refine((value) => value >= 0.01 && value <= 1_024, "must be from 0.01 to 1024");

export const DAY_MS = 86_400_000;
export const quotas = z.string().transform((text, check): Pick<Quotas, "projects" | "labels"> => {
  const projects = new Map<string, number>();
  const labelQuotas: LabelQuota[] = [];
  const seen = new Set<string>();
  for (const part of text.split(",").map((entry) => entry.trim())) {
    const parsed = /^(?:project:(?<id>[^\s=:]+)|label:(?<key>[^\s=]+)=(?<value>.+))=(?<limit>\d{1,9})$/.exec(
      part,
    )?.groups;
    const limit = Number(parsed?.["limit"]);
    const name = part.slice(0, part.lastIndexOf("="));
    if (parsed === undefined || limit < 1 || limit > MAX_RUNNING) {
      check.addIssue(
        `must be project:<id>=<number> and label:<key>=<value>=<number>, separated by commas, with numbers from 1 to ${MAX_RUNNING}`,
      );
      return z.NEVER;
    }
    if (seen.has(name)) {
      check.addIssue(`must name ${name} once`);
      return z.NEVER;
    }
    seen.add(name);
    const { id, key, value } = parsed;
    if (id !== undefined) projects.set(id, limit);
    else labelQuotas.push({ key: key!, value: value!, limit });
  }
  return { projects, labels: labelQuotas };
});

export const bound = z.string().transform((text, check): Bound => {
  const parsed = parseBound(text);
  if (parsed !== undefined) return parsed;
  check.addIssue(
    "must be forever, or an age such as 90d, <number>/pipeline and <number>/project, each at most once, separated by commas",
  );
  return z.NEVER;
});

/** A duration of at least 1 s and at most `mostDays` days, as milliseconds. */
export const age = (mostDays: number, example: string) =>
  z.string().transform((text, check): number => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= 1_000 && ms <= mostDays * DAY_MS) return ms;
    check.addIssue(`must be a duration from 1s to ${mostDays}d, such as ${example}`);
    return z.NEVER;
  });

export const duration = (leastMs: number, mostMs: number, range: string) =>
  z.string().transform((text, check): number => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= leastMs && ms <= mostMs) return ms;
    check.addIssue(`must be a duration such as 90s or 15m, ${range}`);
    return z.NEVER;
  });

const MASTER_KEY_BYTES = 32;
export const masterKeys = z.string().transform((text, check): readonly Uint8Array[] => {
  const keys = text
    .split(",")
    .map((key) => key.trim())
    .map((key) => Buffer.from(key, /^[\w+/-]{43}=?$/.test(key) ? "base64" : "hex"));
  if (keys.every((key) => key.length === MASTER_KEY_BYTES)) return keys;
  check.addIssue("must be 32 random bytes as 64 hexadecimal digits or as base64, or several, separated by commas");
  return z.NEVER;
});

export const BYTES_OF_UNIT = { MB: 1e6, GB: 1e9, TB: 1e12, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;
export const size = z.string().transform((text, check): number => {
  const [, amount, unit] = /^(\d{1,6}) ?([MGT]i?B)$/.exec(text) ?? [];
  if (unit === undefined || Number(amount) < 1) {
    check.addIssue(`must be a whole number, from 1, and one of ${Object.keys(BYTES_OF_UNIT).join(", ")}, such as 20GB`);
    return z.NEVER;
  }
  return Number(amount) * BYTES_OF_UNIT[unit as keyof typeof BYTES_OF_UNIT];
});

export const diskFloor = z.string().transform((text, check): DiskFloor => {
  if (text === "0") return { bytes: 0, percent: 0 };
  const percent = /^(\d{1,2})%$/.exec(text)?.[1];
  if (percent !== undefined) return { bytes: Number.MAX_SAFE_INTEGER, percent: Number(percent) };
  const bytes = size.safeParse(text);
  if (bytes.success) return { bytes: bytes.data, percent: 100 };
  check.addIssue("must be a size such as 2GB, a percentage of the disk such as 5%, or 0");
  return z.NEVER;
});
