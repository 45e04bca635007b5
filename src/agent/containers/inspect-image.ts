/** What the engine knows of an image. */
import type { ContainerEngine } from "./engine.ts";

export interface InspectedImage {
  /** `sha256:` and hexadecimal digits, of its configuration. */
  readonly id: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** `REPOSITORY:TAG` for each tag, as the engine writes it. */
  readonly tags: readonly string[];
  /** `REPOSITORY@sha256:...` for each repository from which the engine has it. */
  readonly references: readonly string[];
  /** That of the manifest for this machine; empty where the engine does not tell it. */
  readonly ownDigest: string;
  /** The size of all its layers, also of those that other images share. */
  readonly bytes: number;
}

/** The first of these images that the engine has. */
export async function inspectImage(
  engine: ContainerEngine,
  names: readonly string[],
): Promise<InspectedImage | undefined> {
  for (const name of new Set(names)) {
    const { code, stdout } = await engine.ask(["image", "inspect", name]);
    if (code === 0) return readInspected(stdout);
  }
  return undefined;
}

/** The ids of all images that the engine has; undefined when it does not answer. */
export async function imageIds(engine: ContainerEngine): Promise<ReadonlySet<string> | undefined> {
  const { code, stdout } = await engine.ask(["images", "-q", "--no-trunc"]);
  if (code !== 0) return undefined;
  return new Set(stdout.split("\n").flatMap((line) => (line.trim() === "" ? [] : [withAlgorithm(line.trim())])));
}

function readInspected(text: string): InspectedImage {
  const [{ Id = "", Digest = "", RepoTags = [], RepoDigests = [], Size = 0, Config = {} } = {}] = JSON.parse(text) as [
    {
      Id?: string;
      Digest?: string;
      RepoTags?: string[] | null;
      RepoDigests?: string[] | null;
      Size?: number;
      Config?: { Entrypoint?: string[] | null; Cmd?: string[] | null };
    }?,
  ];
  return {
    id: withAlgorithm(Id),
    entrypoint: Config.Entrypoint ?? [],
    command: Config.Cmd ?? [],
    tags: RepoTags ?? [],
    references: RepoDigests ?? [],
    ownDigest: Digest,
    bytes: Size,
  };
}

function withAlgorithm(id: string): string {
  return id.includes(":") ? id : `sha256:${id}`;
}
