/** References to images: their parts, and what they say about whether the image may change. Pure. */

/** The parts of a reference to an image. Source: the grammar of the distribution project (`reference.go`). */
export interface ImageReference {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*";
const HOST = "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::\\d+)?";
const REFERENCE = new RegExp(
  `^(?<name>(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*)(?::(?<tag>\\w[\\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);
export const MAX_REFERENCE_CHARS = 512;
/** The digest of an image. */
export const IMAGE_DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Undefined for a text that names no image. */
export function parseImage(text: string): ImageReference | undefined {
  if (text.length > MAX_REFERENCE_CHARS) return undefined;
  const { name, tag, digest } = REFERENCE.exec(text)?.groups ?? {};
  return name === undefined ? undefined : { name, tag, digest };
}

/** Tags that are meant to name another image with each release. */
const MOVING = new Set(["latest", "stable", "edge", "nightly", "main", "master", "dev", "rolling", "current"]);

/** The tag that may name another image tomorrow; undefined for a version or a digest. */
export function movingTag({ tag = "latest", digest }: ImageReference): string | undefined {
  return digest === undefined && MOVING.has(tag) ? tag : undefined;
}

/** The host of the registry, as credentials are stored for it. */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return isHost ? first : "docker.io";
}

/** The reference with its registry and its tag or digest, as it is equal for all references to one image. */
export function fullReference(image: string): string {
  const registry = registryOf(image);
  const path = image.startsWith(`${registry}/`) ? image.slice(registry.length + 1) : image;
  const repository = registry === "docker.io" && !path.includes("/") ? `library/${path}` : path;
  return `${registry}/${repository}${/[:@]/.test(path) ? "" : ":latest"}`;
}

/** The reference by digest alone: engines refuse some references that have a tag as well. Undefined for a malformed one. */
export function withDigest(image: string, digest: string): string | undefined {
  const reference = parseImage(image);
  return reference && `${reference.name}@${digest}`;
}
