/** The schemas of containers and services. */
import { z } from "zod";
import { CONTAINER_NETWORKS, MEMORY_PATTERN, PULL_POLICIES } from "../../domain/containers/containers.ts";
import { LIMITS } from "./limits.ts";
import { duration, env, plainText, text, variableName } from "./values.ts";

const image = text.describe("Reference of the image, such as `node:22` or `registry.example/team/tools@sha256:...`.");
const imageKeys = {
  credential: variableName
    .optional()
    .describe("Name of the secret with which the image is pulled: `user:password` of the registry."),
  pull: z
    .enum(PULL_POLICIES)
    .optional()
    .describe("When the agent pulls the image: when it does not have it, each time, or not at all. Default missing."),
};

const containerMap = z
  .strictObject({
    image,
    env: env
      .optional()
      .describe("Variables of the container. Those of the pipeline, the job and the step override them."),
    user: plainText
      .max(LIMITS.nameChars)
      .optional()
      .describe("User as whom the steps run, by name or id, also as `user:group`. Default: that of the image."),
    entrypoint: z
      .array(text)
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe(
        "Program and first arguments that start the container. It must run its further arguments. Default: none; that of the image is not used.",
      ),
    network: z
      .enum(CONTAINER_NETWORKS)
      .optional()
      .describe("`none`: the container reaches nothing and has no services. Default `default`."),
    cpus: z.number().min(0.01).max(1_024).optional().describe("How many processors it may use, such as 1.5."),
    memory: z
      .string()
      .regex(MEMORY_PATTERN, { error: "must be a whole number with k, m or g, such as 512m" })
      .optional()
      .describe("How much memory it may use, such as `512m` or `2g`; at least 6m."),
    pids: z.int().min(1).max(4_194_304).optional().describe("How many processes and threads it may have."),
    ...imageKeys,
  })
  .meta({ id: "container", title: "container" });

export const containerSchema = z
  .union([text, containerMap], { error: "must be the reference of an image, or a map with `image`" })
  .describe("The [container](#container) in which `shell` and plugins run; a text is its `image`.");

const healthMap = z
  .strictObject({
    command: text.describe("A text for `/bin/sh -c` in the container of the service. Exit code 0 means healthy."),
    interval: duration("100ms", "1m", "The wait between two checks. Default 1s.").optional(),
    timeout: duration("100ms", "5m", "How long one check may take. Default 5s.").optional(),
    retries: z
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe("How many checks may fail before the service counts as unhealthy. Default 60."),
  })
  .meta({ id: "health", title: "health" });

const serviceMap = z
  .strictObject({
    image,
    env: env.optional().describe("Variables of the service."),
    ports: z
      .array(z.int().min(1).max(65_535))
      .min(1)
      .max(LIMITS.listItems)
      .optional()
      .describe("TCP ports on which it listens. Steps outside of a container reach them on their own machine."),
    health: z
      .union([text, healthMap], { error: "must be a command, or a map with `command`" })
      .optional()
      .describe("The check that must succeed before the first step begins; a text is its `command`. Default: it runs."),
    ...imageKeys,
  })
  .meta({ id: "service", title: "service" });

const SERVICE_NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export const servicesSchema = z
  .record(
    z.string().regex(SERVICE_NAME, {
      error: "must be the name of a host: a lower-case letter, then letters, digits and `-`, 63 in all",
    }),
    serviceMap,
  )
  .refine((services) => Object.keys(services).length <= 32, { error: "must have at most 32 services" })
  .describe("Containers that run beside the steps, by name. They start before the first step and end with the job.");
