/**
 * Objects in one part of a bucket, by name. This is the only file that knows the client library. Calls reject with
 * `unavailable`, and say what to do, within about half a minute while the storage cannot be reached.
 */
import type { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { ObjectPlace } from "../../settings/object-storage.ts";
import { isBehindEnd, isMissing, translateObjectFault } from "./faults.ts";

const CONNECT_WITHIN_MS = 3_000;
/** Without a byte for this long, a call has failed. Some servers take long to complete a large upload. */
const SILENT_MS = 12_000;
const ATTEMPTS = 2;
const SOCKETS = 128;

/** One part of an upload in parts; `number` counts from 1. */
export interface StoredPart {
  readonly number: number;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly crc32: string | undefined;
}

export interface StoredObject {
  readonly name: string;
  readonly sizeBytes: number;
  /** Unix milliseconds. */
  readonly storedAt: number;
}

export interface UnfinishedUpload {
  readonly name: string;
  readonly uploadId: string;
  /** Unix milliseconds. */
  readonly begunAt: number;
}

/** Measures calls by their name. */
export type MeasureCall = <T>(operation: string, call: () => Promise<T>) => Promise<T>;

export class ObjectClient {
  readonly #place: ObjectPlace;
  readonly #client: S3Client;
  readonly #measure: MeasureCall;
  /** Whether the server tells the checksums of parts; asked for once. */
  #tellsSums: Promise<boolean> | undefined;

  constructor(place: ObjectPlace, measure: MeasureCall = (_, call) => call()) {
    // The library warns on every start about the version of Node, which the operator of this program does not choose for it.
    process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
    this.#place = place;
    this.#measure = measure;
    const agent = { keepAlive: true, maxSockets: SOCKETS };
    this.#client = new S3Client({
      region: place.region,
      forcePathStyle: place.pathStyle,
      ...(place.endpoint === null ? {} : { endpoint: place.endpoint }),
      maxAttempts: ATTEMPTS,
      requestHandler: {
        connectionTimeout: CONNECT_WITHIN_MS,
        socketTimeout: SILENT_MS,
        httpAgent: agent,
        httpsAgent: agent,
      },
    });
  }

  /** Rejects when the bucket cannot be used. */
  async check(): Promise<void> {
    await this.#call("HeadBucket", () => this.#client.send(new HeadBucketCommand({ Bucket: this.#place.bucket })));
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#call("PutObject", () => this.#client.send(new PutObjectCommand({ ...this.#at(name), Body: bytes })));
  }

  /** Undefined when it is missing. */
  async sizeOf(name: string): Promise<number | undefined> {
    const head = await this.#unlessMissing("HeadObject", () =>
      this.#client.send(new HeadObjectCommand(this.#at(name))),
    );
    return head === undefined ? undefined : (head.ContentLength ?? 0);
  }

  /** A stream of at most `length` bytes; undefined when the object is missing or ends before `from`. */
  async open(name: string, from: number, length: number): Promise<Readable | undefined> {
    const range = `bytes=${from}-${from + length - 1}`;
    const found = await this.#unlessMissing("GetObject", () =>
      this.#client.send(new GetObjectCommand({ ...this.#at(name), Range: range })),
    );
    return found?.Body as Readable | undefined;
  }

  /** At most `length` bytes; undefined when the object is missing or ends before `from`. */
  async read(name: string, from: number, length: number): Promise<Uint8Array | undefined> {
    const body = await this.open(name, from, length);
    if (body === undefined) return undefined;
    return this.#call("ReadObject", async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk as Uint8Array);
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    });
  }

  /** Changes nothing when it is missing. */
  async delete(name: string): Promise<void> {
    await this.#unlessMissing("DeleteObject", () => this.#client.send(new DeleteObjectCommand(this.#at(name))));
  }

  /** The objects whose names begin with `prefix`, by name. */
  async *list(prefix: string): AsyncGenerator<StoredObject, void, void> {
    for (let token: string | undefined; ;) {
      const next = token === undefined ? {} : { ContinuationToken: token };
      const page = await this.#call("ListObjects", () =>
        this.#client.send(new ListObjectsV2Command({ ...this.#under(prefix), ...next })),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        yield { name: this.#nameOf(Key!), sizeBytes: Size ?? 0, storedAt: LastModified?.getTime() ?? 0 };
      }
      token = page.NextContinuationToken;
      if (page.IsTruncated !== true || token === undefined) return;
    }
  }

  /** Begins an upload in parts, and answers its id. */
  async beginParts(name: string): Promise<string> {
    // The server checks each part in either case. With an algorithm it asks for all checksums in the end, also for those of
    // parts that another process has stored.
    return this.#beginParts(name, await this.#sums(name));
  }

  async #beginParts(name: string, withSums: boolean): Promise<string> {
    const algorithm = withSums ? ({ ChecksumAlgorithm: "CRC32" } as const) : {};
    const command = new CreateMultipartUploadCommand({ ...this.#at(name), ...algorithm });
    return (await this.#call("CreateMultipartUpload", () => this.#client.send(command))).UploadId!;
  }

  /** Some servers check the checksums of parts and forget them. */
  #sums(name: string): Promise<boolean> {
    const asked = (this.#tellsSums ??= this.#askForSums(name));
    asked.catch(() => (this.#tellsSums = undefined));
    return asked;
  }

  async #askForSums(name: string): Promise<boolean> {
    const uploadId = await this.#beginParts(name, true);
    await this.putPart(name, uploadId, 1, Buffer.from("a"));
    const [part] = (await this.parts(name, uploadId)) ?? [];
    await this.abortParts(name, uploadId);
    return part?.crc32 !== undefined;
  }

  /** Undefined when there is no such upload. */
  async putPart(name: string, uploadId: string, number: number, bytes: Uint8Array): Promise<StoredPart | undefined> {
    const command = { ...this.#at(name), UploadId: uploadId, PartNumber: number, Body: bytes };
    const stored = await this.#unlessMissing("UploadPart", () =>
      this.#client.send(new UploadPartCommand({ ...command, ChecksumAlgorithm: "CRC32" })),
    );
    if (stored === undefined) return undefined;
    return { number, sizeBytes: bytes.length, etag: stored.ETag!, crc32: stored.ChecksumCRC32 };
  }

  /** The parts of an upload, by number; undefined when there is no such upload. */
  async parts(name: string, uploadId: string): Promise<readonly StoredPart[] | undefined> {
    const parts: StoredPart[] = [];
    for (let after: string | undefined; ;) {
      const from = after === undefined ? {} : { PartNumberMarker: after };
      const page = await this.#unlessMissing("ListParts", () =>
        this.#client.send(new ListPartsCommand({ ...this.#at(name), UploadId: uploadId, ...from })),
      );
      if (page === undefined) return undefined;
      for (const { PartNumber, Size, ETag, ChecksumCRC32 } of page.Parts ?? []) {
        parts.push({ number: PartNumber!, sizeBytes: Size ?? 0, etag: ETag!, crc32: ChecksumCRC32 });
      }
      after = page.NextPartNumberMarker;
      if (page.IsTruncated !== true || after === undefined) return parts;
    }
  }

  /** Makes the parts one object. False when there is no such upload: it may be complete already. */
  async completeParts(name: string, uploadId: string, parts: readonly StoredPart[]): Promise<boolean> {
    const withSums = await this.#sums(name);
    const Parts = parts.map(({ number, etag, crc32 }) => ({
      PartNumber: number,
      ETag: etag,
      ...(crc32 === undefined || !withSums ? {} : { ChecksumCRC32: crc32 }),
    }));
    const command = { ...this.#at(name), UploadId: uploadId, MultipartUpload: { Parts } };
    const done = await this.#unlessMissing("CompleteMultipartUpload", () =>
      this.#client.send(new CompleteMultipartUploadCommand(command)),
    );
    return done !== undefined;
  }

  /** Changes nothing when there is no such upload. */
  async abortParts(name: string, uploadId: string): Promise<void> {
    await this.#unlessMissing("AbortMultipartUpload", () =>
      this.#client.send(new AbortMultipartUploadCommand({ ...this.#at(name), UploadId: uploadId })),
    );
  }

  /** The uploads in parts that are not complete, of objects whose names begin with `prefix`. */
  async *unfinished(prefix: string): AsyncGenerator<UnfinishedUpload, void, void> {
    for (let after: { KeyMarker?: string; UploadIdMarker?: string } | undefined; ;) {
      const page = await this.#call("ListMultipartUploads", () =>
        this.#client.send(new ListMultipartUploadsCommand({ ...this.#under(prefix), ...after })),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        // Some servers do not look at the prefix.
        if (!Key!.startsWith(this.#place.prefix + prefix)) continue;
        yield { name: this.#nameOf(Key!), uploadId: UploadId!, begunAt: Initiated?.getTime() ?? 0 };
      }
      if (page.IsTruncated !== true || page.NextKeyMarker === undefined) return;
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      after = { KeyMarker, ...(UploadIdMarker === undefined ? {} : { UploadIdMarker }) };
    }
  }

  /** An address from which anyone can fetch the object for `seconds`. `disposition`: the header of the answer. */
  linkTo(name: string, seconds: number, disposition: string): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#at(name),
      ResponseContentDisposition: disposition,
      ResponseContentType: "application/octet-stream",
      ResponseCacheControl: "private, no-store",
    });
    return this.#call("Presign", () => getSignedUrl(this.#client, command, { expiresIn: seconds }));
  }

  /** The fault for callers. */
  translated(error: unknown): Error {
    return translateObjectFault(error, this.#place);
  }

  close(): void {
    this.#client.destroy();
  }

  #at(name: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.#place;
    return { Bucket: bucket, Key: `${prefix}${name}` };
  }

  #under(prefix: string): { readonly Bucket: string; readonly Prefix: string } {
    return { Bucket: this.#place.bucket, Prefix: `${this.#place.prefix}${prefix}` };
  }

  #nameOf(key: string): string {
    return key.slice(this.#place.prefix.length);
  }

  async #call<T>(operation: string, call: () => Promise<T>): Promise<T> {
    try {
      return await this.#measure(operation, call);
    } catch (error) {
      throw this.translated(error);
    }
  }

  /** Undefined when what is named is missing; a bucket that is missing is a fault. */
  async #unlessMissing<T>(operation: string, call: () => Promise<T>): Promise<T | undefined> {
    const quiet = () =>
      call().catch((error: unknown) => {
        if (isMissing(error) || isBehindEnd(error)) return undefined;
        throw error;
      });
    return this.#call(operation, quiet);
  }
}
