/** The settings of agents and of commands: the rows of the table of settings that no node reads. */
import type { Setting } from "./setting.ts";

export const PROGRAM_SETTINGS = {
  MILLRACE_GATEWAY: { group: "Agents", standard: "127.0.0.1:9090", meaning: "Where the gateway is, `host:port`." },
  MILLRACE_GATEWAY_SECURITY: {
    group: "Agents",
    standard: null,
    without: "`plaintext`, to this machine only; `tls` with a CA or certificate file",
    meaning: "`tls` or `plaintext`.",
  },
  MILLRACE_GATEWAY_CA_FILE: {
    group: "Agents",
    standard: null,
    without: "the system's authorities",
    meaning: "PEM file of the authorities to trust.",
  },
  MILLRACE_GATEWAY_CERT_FILE: {
    group: "Agents",
    standard: null,
    without: "none",
    meaning: "PEM file of the certificate that the agent presents to a gateway that asks for one.",
  },
  MILLRACE_GATEWAY_KEY_FILE: { group: "Agents", standard: null, without: "none", meaning: "PEM file with its key." },
  MILLRACE_IDENTITY_TOKEN_FILE: {
    group: "Agents",
    standard: null,
    without: "none",
    meaning:
      "File with an [identity token](operations.md#agents-with-identity-tokens) that the agent presents in place of a registration token.",
  },
  MILLRACE_AGENT_NAME: {
    group: "Agents",
    standard: null,
    without: "the host's name",
    meaning: "The agent's name, unique in the installation.",
  },
  MILLRACE_AGENT_SLOTS: { group: "Agents", standard: "1", meaning: "How many jobs may run at a time." },
  MILLRACE_AGENT_MAX_JOBS: {
    group: "Agents",
    standard: null,
    without: "any number",
    meaning: "After this many jobs [the agent ends](operations.md#agents-that-come-and-go); `--once` stands for 1.",
  },
  MILLRACE_AGENT_IDLE_EXIT: {
    group: "Agents",
    standard: null,
    without: "never",
    meaning: "How long the agent waits for a job [before it ends](operations.md#agents-that-come-and-go).",
  },
  MILLRACE_AGENT_LABELS: {
    group: "Agents",
    standard: null,
    without: "none",
    meaning: "`key=value,...`, by which jobs select agents.",
  },
  MILLRACE_AGENT_FACTS: {
    group: "Agents",
    standard: "on",
    meaning: "`off` leaves out the labels `os`, `arch`, `hostname`, `cores` and `step-isolation`.",
  },
  MILLRACE_STEP_USER: {
    group: "Agents",
    standard: null,
    without: "the agent's own user",
    meaning: "The user as whom [steps run](operations.md#steps-as-another-user).",
  },
  MILLRACE_AGENT_PLUGIN_DIRS: {
    group: "Agents",
    standard: null,
    without: "none",
    meaning: "Folders with [plugins](plugins.md) of your own, absolute paths separated by commas.",
  },
  MILLRACE_AGENT_PLUGIN_CACHE: {
    group: "Agents",
    standard: "1GB",
    meaning: "Disk space for fetched plugins, not counting those in use.",
  },
  MILLRACE_AGENT_DRAIN_TIMEOUT: {
    group: "Agents",
    standard: "25s",
    meaning: "How long jobs may continue after SIGTERM; see [Stop an agent](operations.md#stop-an-agent).",
  },
  MILLRACE_AGENT_MIN_FREE_DISK: {
    group: "Agents",
    standard: null,
    without: "the lesser of `1GiB` and `5%`",
    meaning: "No job begins while less disk space is free: `2GB`, `5%` or `0`.",
  },
  MILLRACE_AGENT_STEP_ISOLATION: {
    group: "Agents",
    standard: "auto",
    meaning:
      "`cgroup`, `pid-namespace`, `subreaper` or `mark`: how [what steps start](operations.md#what-steps-leave-behind) is found.",
  },
  MILLRACE_AGENT_CONTAINER_ENGINE: {
    group: "Agents",
    standard: "auto",
    meaning:
      "`podman`, `docker` or `off`: what runs the [containers of jobs](operations.md#containers-of-jobs). `auto`: the first that answers.",
  },
  MILLRACE_AGENT_CONTAINER_IMAGES: {
    group: "Agents",
    standard: null,
    without: "all",
    meaning: "Images that jobs may use, separated by commas; `*` stands for any text.",
  },
  MILLRACE_AGENT_IMAGE_CACHE: {
    group: "Agents",
    standard: "20GB",
    meaning: "Disk space for pulled images, not counting those [in use](operations.md#agents-with-an-engine).",
  },
  MILLRACE_AGENT_ISOLATION: {
    group: "Agents",
    standard: "none",
    meaning:
      "`container` or `namespaces`: what [steps without a container](operations.md#steps-without-a-container) run in.",
  },
  MILLRACE_AGENT_ISOLATION_NETWORK: {
    group: "Agents",
    standard: "off",
    meaning: "`on`: steps in namespaces reach the network of the machine.",
  },
  MILLRACE_AGENT_STEP_MEMORY: {
    group: "Agents",
    standard: null,
    without: "no bound",
    meaning: "How much memory a step without a container may use: `2GB`.",
  },
  MILLRACE_AGENT_STEP_PIDS: {
    group: "Agents",
    standard: null,
    without: "no bound",
    meaning: "How many processes and threads such a step may have.",
  },
  MILLRACE_AGENT_STEP_CPUS: {
    group: "Agents",
    standard: null,
    without: "no bound",
    meaning: "How many processors such a step may use: `1.5`.",
  },
  MILLRACE_AGENT_LOG_BUFFER: {
    group: "Agents",
    standard: "256MiB",
    meaning: "Disk space for log lines that cannot be sent.",
  },
  MILLRACE_AGENT_CONFIG: {
    group: "Agents",
    standard: null,
    without: "none",
    meaning: "A [file with the agent's settings](operations.md#agents).",
  },
  MILLRACE_URL: {
    group: "Commands",
    standard: null,
    without: "the current [context](cli.md#log-in)",
    meaning: "The server of the [commands that call one](cli.md#commands-that-call-a-server), for scripts.",
  },
  MILLRACE_TOKEN: {
    group: "Commands",
    standard: null,
    without: "none",
    meaning: "The token for `MILLRACE_URL`, and of `plan --server` and `plugin push`.",
  },
  REDIS_BINARY: {
    group: "Commands",
    standard: null,
    without:
      "`valkey-server` or `redis-server` on PATH, else [a fetched one](operations.md#where-the-embedded-redis-comes-from)",
    meaning: "The server that an embedded installation starts.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
