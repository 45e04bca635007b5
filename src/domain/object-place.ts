/** Where an object storage is. */

/** A part of a bucket. The credentials are found where the client of the storage looks for them. */
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

/** The place as an operator knows it. */
export function textOfPlace({ bucket, prefix, endpoint }: ObjectPlace): string {
  const url = `s3://${bucket}/${prefix}`.replace(/\/$/, "");
  return endpoint === null ? url : `${url} at ${endpoint}`;
}
