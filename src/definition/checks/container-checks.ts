/** Checks of containers and services beyond their shape: references of images, ports, and expressions. */
import { MEMORY_PATTERN, parseMemory } from "../../domain/containers/containers.ts";
import { movingTag, parseImage, withDigest } from "../../domain/containers/image-references.ts";
import { OPEN } from "../../expressions/template.ts";
import { checkEnvNames } from "./name-checks.ts";
import { EXPRESSION_PLACES } from "../text/expression-places.ts";
import { asMap, type Located, type Raw } from "../text/raw.ts";
import type { Reach } from "./reach.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";
import { checkTexts, refuseExpressions } from "./texts.ts";
import { builtinOf } from "../../domain/builtins.ts";

/** What engines start a container with at least. Source: the reference of `docker run`. */
const LEAST_MEMORY = parseMemory("6m")!;

/** Checks a `container`, which may be the reference of its image. */
export function checkContainer(source: Source, container: unknown, path: Path, reach: Reach): void {
  if (typeof container === "string") return checkImage(source, container, path, reach);
  const map = asMap(container);
  if (map === undefined) return;
  checkCommon(source, map, path, reach);
  refuseExpressions(source, map["user"], [...path, "user"], "`user`");
  refuseExpressions(source, map["entrypoint"], [...path, "entrypoint"], "`entrypoint`");
  const { memory } = map;
  if (typeof memory === "string" && MEMORY_PATTERN.test(memory) && parseMemory(memory)! < LEAST_MEMORY) {
    source.report("invalid-container", [...path, "memory"], "`memory` must be at least 6m");
  }
}

/** Checks the `services` of a job. */
export function checkServices(source: Source, services: unknown, path: Path, reach: Reach): void {
  for (const [name, service] of Object.entries(asMap(services) ?? {})) {
    const at = [...path, name];
    const map = asMap(service);
    if (map === undefined) continue;
    checkCommon(source, map, at, reach);
    refuseExpressions(source, map["health"], [...at, "health"], "`health`");
    const ports = Array.isArray(map["ports"]) ? map["ports"] : [];
    for (const [index, port] of ports.entries()) {
      if (ports.indexOf(port) === index) continue;
      source.report("invalid-container", [...at, "ports", index], `the port ${clip(String(port))} is there already`);
    }
  }
}

/** Reports a `container` on a step that the agent runs beside the containers. */
export function refuseContainerBeside(source: Source, { value: { container, uses }, path }: Located): void {
  if (container === undefined || typeof uses !== "string") return;
  const builtin = builtinOf(uses);
  if (builtin === undefined || builtin === "shell") return;
  source.report("invalid-container", [...path, "container"], `\`${builtin}\` runs beside containers, never in one`, {
    spot: "key",
    hint: "remove `container` here: only `shell` and plugins run in containers",
  });
}

function checkCommon(source: Source, map: Raw, path: Path, reach: Reach): void {
  checkImage(source, map["image"], [...path, "image"], reach);
  checkEnvNames(source, map["env"], [...path, "env"]);
  checkTexts(source, map["env"], [...path, "env"], EXPRESSION_PLACES.containerEnv, reach);
}

function checkImage(source: Source, image: unknown, path: Path, reach: Reach): void {
  checkTexts(source, image, path, EXPRESSION_PLACES.container, reach);
  if (typeof image !== "string" || image === "" || image.includes(OPEN)) return;
  const reference = parseImage(image);
  if (reference === undefined) {
    source.report("invalid-image", path, `"${clip(image)}" is not the reference of an image`, {
      hint: "write it like `name:tag`, `registry.example/team/name:tag` or `name@sha256:...`, in lower-case letters",
    });
    return;
  }
  const tag = movingTag(reference);
  if (tag === undefined) return;
  const message = `the tag \`${tag}\` of this image names another image with each release`;
  const digest = reach.digests.get(image);
  source.report(
    "moving-image",
    path,
    digest === undefined ? message : `${message}; in the last run that used it, it was ${digest}`,
    {
      severity: "warning",
      hint:
        digest === undefined
          ? "name a version, or the digest that the log of a run tells: `name@sha256:...`"
          : `name a version, or the image of that run: \`${withDigest(image, digest)}\``,
    },
  );
}
