/** Whether an event is of the repository that a pipeline has its definition in. */
import { parseRemote, type Remote } from "../../git/remote.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { isInGit } from "./repository.ts";

/**
 * True when one of the addresses leads to the repository of the pipeline: the same host and the same path, without `.git` and
 * the case of letters. Ports count between addresses of one protocol only, since a host has others for HTTPS and SSH. Addresses
 * that are none count nothing.
 */
export function isOwnRepository(pipeline: Pick<Pipeline, "repoUrl">, addresses: readonly string[]): boolean {
  if (!isInGit(pipeline)) return false;
  const own = parseRemote(pipeline.repoUrl);
  return typeof own !== "string" && addresses.some((address) => isSame(own, parseRemote(address)));
}

function isSame(own: Remote, other: Remote | string): boolean {
  if (typeof other === "string") return false;
  const [isSsh, isOtherSsh] = [own, other].map(({ transport }) => transport === "ssh");
  return (
    own.host.toLowerCase() === other.host.toLowerCase() &&
    pathOf(own) === pathOf(other) &&
    (isSsh !== isOtherSsh || own.port === other.port)
  );
}

function pathOf({ url, transport }: Remote): string {
  const path = url.includes("://") ? new URL(url).pathname : url.slice(url.indexOf(":") + 1);
  const plain = transport === "ssh" ? path.replace(/^\/~?\//, "/") : path;
  return plain
    .replaceAll(/^\/+|\/+$/g, "")
    .replace(/\.git$/i, "")
    .toLowerCase();
}
