/** The settings of the object storage: their rows in the table of settings, and their checks. */
import { z } from "zod";
import { parseDuration } from "../domain/durations.ts";
import type { ColdLogs } from "../domain/retention.ts";
import type { Setting } from "./setting.ts";
import { originOf } from "./values.ts";

export const OBJECT_STORAGE_SETTING_ROWS = {
  MILLRACE_OBJECT_STORAGE: {
    group: "Artifacts and caches",
    standard: null,
    without: "files in the data directory; with MongoDB, GridFS",
    meaning:
      "Bucket and prefix of the [object storage](operations.md#object-storage) that keeps the content of artifacts, caches, uploads and plugins, such as `s3://ci-content/millrace`. The same on all nodes.",
  },
  MILLRACE_OBJECT_STORAGE_ENDPOINT: {
    group: "Artifacts and caches",
    standard: null,
    without: "that of AWS for the region",
    meaning: "The address of another S3-compatible server, such as `https://minio.example.com:9000`.",
  },
  MILLRACE_OBJECT_STORAGE_REGION: {
    group: "Artifacts and caches",
    standard: "us-east-1",
    meaning: "The region of the bucket.",
  },
  MILLRACE_OBJECT_STORAGE_PATH_STYLE: {
    group: "Artifacts and caches",
    standard: null,
    without: "`on` with an endpoint, else `off`",
    meaning: "`on`: the bucket is named in the path of a request; `off`: in the host name.",
  },
  MILLRACE_OBJECT_STORAGE_LOGS: {
    group: "Artifacts and caches",
    standard: "1h",
    meaning:
      "How long after the end of its step a log [goes to the object storage](operations.md#logs-in-the-object-storage); `off`: none does.",
  },
  MILLRACE_OBJECT_STORAGE_DOWNLOADS: {
    group: "Artifacts and caches",
    standard: "proxied",
    meaning:
      "`direct`: downloads of uploads and of artifacts with one file are [redirected to the object storage](operations.md#direct-downloads). `proxied`: the edge sends all content itself.",
  },
} as const satisfies Record<string, Setting>;

/** A part of a bucket. The credentials are found where the client of the storage looks for them, and are not settings. */
export interface ObjectPlace {
  readonly bucket: string;
  /** What the keys of all objects begin with: empty, or a path that ends with `/`. */
  readonly prefix: string;
  /** Null: that of AWS for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** The bucket is named in the path of a request, not in the host name. */
  readonly pathStyle: boolean;
}

export interface ObjectStorageSettings extends ObjectPlace {
  /** When logs go there; null: none does. */
  readonly logs: ColdLogs | null;
  /** Users fetch content from the object storage where they can. */
  readonly directDownloads: boolean;
}

const BUCKET_AND_PREFIX = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<prefix>[\w.!*'()/-]{0,500}))?$/;

const place = z.string().transform((text, check): Pick<ObjectPlace, "bucket" | "prefix"> => {
  const { bucket, prefix = "" } = BUCKET_AND_PREFIX.exec(text)?.groups ?? {};
  if (bucket === undefined) {
    check.addIssue("must be a bucket with or without a prefix, such as s3://ci-content/millrace");
    return z.NEVER;
  }
  const names = prefix.split("/").filter((name) => name !== "");
  return { bucket, prefix: names.map((name) => `${name}/`).join("") };
});

const endpoint = originOf("must be an address such as https://minio.example.com:9000, without a user and a path");

const MAX_LOG_AGE_MS = 3_650 * 86_400_000;

const logs = z.string().transform((text, check): ColdLogs | null => {
  if (text === "off") return null;
  const afterMs = parseDuration(text);
  if (afterMs !== undefined && afterMs <= MAX_LOG_AGE_MS) return { afterMs };
  check.addIssue("must be a duration up to 3650d, such as 1h, or off");
  return z.NEVER;
});

export const OBJECT_STORAGE_SETTINGS = {
  MILLRACE_OBJECT_STORAGE: place.optional(),
  MILLRACE_OBJECT_STORAGE_ENDPOINT: endpoint.optional(),
  MILLRACE_OBJECT_STORAGE_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "must be the name of a region, such as eu-central-1")
    .optional(),
  MILLRACE_OBJECT_STORAGE_PATH_STYLE: z.enum(["on", "off"], { error: "must be on or off" }).optional(),
  MILLRACE_OBJECT_STORAGE_LOGS: logs.default({ afterMs: 3_600_000 }),
  MILLRACE_OBJECT_STORAGE_DOWNLOADS: z.enum(["proxied", "direct"], { error: "must be proxied or direct" }).optional(),
} as const;

const settings = z.object(OBJECT_STORAGE_SETTINGS);
type Read = z.output<typeof settings>;

/** Null without an object storage. */
export function objectStorage(read: Read): ObjectStorageSettings | null {
  if (read.MILLRACE_OBJECT_STORAGE === undefined) return null;
  const address = read.MILLRACE_OBJECT_STORAGE_ENDPOINT ?? null;
  return {
    ...read.MILLRACE_OBJECT_STORAGE,
    endpoint: address,
    region: read.MILLRACE_OBJECT_STORAGE_REGION ?? OBJECT_STORAGE_SETTING_ROWS.MILLRACE_OBJECT_STORAGE_REGION.standard,
    pathStyle: (read.MILLRACE_OBJECT_STORAGE_PATH_STYLE ?? (address === null ? "off" : "on")) === "on",
    logs: read.MILLRACE_OBJECT_STORAGE_LOGS,
    directDownloads: read.MILLRACE_OBJECT_STORAGE_DOWNLOADS === "direct",
  };
}

/** The settings that say where a storage is that no setting names. */
export function aimlessObjectSettings(read: Read): readonly (keyof Read)[] {
  if (read.MILLRACE_OBJECT_STORAGE !== undefined) return [];
  const aimless = ["MILLRACE_OBJECT_STORAGE_ENDPOINT", "MILLRACE_OBJECT_STORAGE_PATH_STYLE"] as const;
  return aimless.filter((name) => read[name] !== undefined);
}
