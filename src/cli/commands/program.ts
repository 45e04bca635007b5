/**
 * The command line: commands, their options, and exit statuses (0 ok, 1 failure, 2 usage, 130 after Ctrl-C). Each command
 * is imported only when it runs, so that an agent does not load the control plane into its memory.
 */
import { Command, CommanderError, Option } from "commander";
import type { AgentOptions } from "./agent.ts";
import type { AgentConformanceOptions } from "./agent-conformance.ts";
import type { BackupOptions } from "./backup.ts";
import { CommandFailure, runCommand } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { optimiseLess } from "../../node/compiler.ts";
import { packageVersion } from "../../node/package-root.ts";
import type { ReturnLogsOptions } from "./object-storage.ts";
import type { PlanOptions } from "./plan.ts";
import type { PackOptions } from "./plugin.ts";
import type { RestoreOptions } from "./restore.ts";
import { addServerCommands } from "./server-commands.ts";
import type { RotateKeyOptions } from "./secrets.ts";
import type { RunOptions } from "./run.ts";
import type { ServeOptions } from "./serve.ts";
import type { SetShardsOptions } from "./shards.ts";
import type { MakeOwnerOptions } from "./users.ts";
import type { StartOptions } from "./start.ts";
import type { ValidateOptions } from "./validate.ts";
import type { VerifyCommandOptions } from "./verify.ts";

/** Runs the program with `argv` (without the interpreter and the script) and resolves with its exit status. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let status: number = EXIT.ok;
  const isJson = wantsJson(argv);
  const program = buildProgram((answer) => (status = answer), isJson);
  try {
    await program.parseAsync(argv, { from: "user" });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const wasAskedFor = error.exitCode === 0;
    if (wasAskedFor) return EXIT.ok;
    if (isJson) process.stderr.write(`${usageFailure(error).asJson().text}\n`);
    return EXIT.usage;
  }
}

/** What follows `--` is no option. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}

function usageFailure({ code, message }: CommanderError): CommandFailure {
  const text = code === "commander.help" ? "a command is missing" : message.replace(/^error: /, "");
  return new CommandFailure(text, EXIT.usage, { next: "see --help" });
}

/** All commands. With `isJson`, wrong options and arguments are told by the caller, not by the commands. */
export function buildProgram(setStatus: SetStatus, isJson: boolean): Command {
  const program = new Command("millrace")
    // Every command that is added below writes where the program does.
    .configureOutput(isJson ? { writeErr: () => {} } : {})
    .description("Runs pipelines on agents: control plane, agent and local runs in one program.")
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError("(see --help)");

  program.commandsGroup("On this machine:");
  addLocalCommands(program, setStatus);
  const plugin = addPluginCommand(program, setStatus);
  program.commandsGroup("For the machines of an installation:");
  addServeCommand(program, setStatus);
  addAgentCommands(program, setStatus);
  addCopyCommands(program, setStatus);
  const secrets = secretCommand(program, setStatus);
  addShardCommand(program, setStatus);
  addObjectStorageCommand(program, setStatus);
  const users = userCommand(program, setStatus);
  addRepairCommands(program, setStatus);
  program.commandsGroup("For a server, after `millrace login`:");
  addServerCommands(program, setStatus, { plugin, secrets, users });
  return program;
}

/** Takes the exit status of a command that has ended. */
type SetStatus = (status: number) => void;

function addLocalCommands(program: Command, setStatus: SetStatus): void {
  program
    .command("start")
    .description("run a whole installation on this machine: Redis, control plane, one agent, and a sample pipeline")
    .option("--once", "run the sample pipeline once and end; exit status 0 when the run succeeds")
    .option("--data-dir <dir>", "the directory for all data (MILLRACE_DATA_DIR)")
    .option("--new-token", "create and show another administrator token")
    .action(async (options: StartOptions) =>
      setStatus(
        await runCommand(async (signal) => (await loadNode(() => import("./start.ts"))).start(options, signal)),
      ),
    );

  program
    .command("run")
    .description("run one pipeline definition on this machine and leave nothing behind")
    .argument("<file>", "the definition, YAML or JSON")
    .option("--var <name=value>", "a variable of the run; `checkout` is the current directory", collect, [])
    .option("--verbose", "show every log line")
    .option("--approve", "give every approval that the run waits for")
    .action(async (file: string, options: RunOptions) =>
      setStatus(
        await runCommand(async (signal) => (await loadNode(() => import("./run.ts"))).run(file, options, signal)),
      ),
    );

  program
    .command("validate")
    .description("show every problem of definitions; exit status 0 when no file has an error, else 1")
    .argument("<files...>", "definitions, YAML or JSON; - for standard input")
    .addOption(stdinFormat())
    .option("--json", "print [{ file, valid, diagnostics }]")
    .action(async (files: readonly string[], options: ValidateOptions) =>
      setStatus(await runCommand(async () => (await import("./validate.ts")).validate(files, options))),
    );

  program
    .command("plan")
    .description("show which jobs and steps a trigger would run, and why; nothing runs")
    .argument("<file>", "the definition, YAML or JSON; - for standard input")
    .addOption(
      new Option("--trigger <kind>", "the kind of trigger").choices(["manual", "cron", "event"]).default("manual"),
    )
    .option("--ref <ref>", "`trigger.ref`; default: the variable `ref`, else the default branch of --pipeline-id")
    .option("--payload <file>", "a JSON object whose fields are `trigger.<field>`")
    .option("--var <name=value>", "a variable of the run", collect, [])
    .option("--upload <name=id>", "with --server, an upload that the trigger gives", collect, [])
    .option("--pipeline <name>", "`pipeline.name`; default: the file's name")
    .addOption(stdinFormat())
    .option("--json", "print the `detail` that POST .../plan answers")
    .option("--server <url>", "plan on this control plane, with its agents; needs a token in MILLRACE_TOKEN")
    .option("--pipeline-id <id>", "the pipeline on that control plane")
    .action(async (file: string, options: PlanOptions) =>
      setStatus(await runCommand(async () => (await import("./plan.ts")).plan(file, options))),
    );

  program
    .command("schema")
    .description("print the JSON Schema of definitions, for editors")
    .action(async () => setStatus(await runCommand(async () => (await import("./schema.ts")).schema())));
}

function addPluginCommand(program: Command, setStatus: SetStatus): Command {
  const plugin = program
    .command("plugin")
    .description("make packages of plugins, and register, list and delete plugins");
  plugin
    .command("pack")
    .description("check a plugin and write its package")
    .argument("<folder>", "the folder with the plugin.yaml")
    .option("--output <file>", "default: <name>-<version>.tar.gz in the current directory")
    .action(async (folder: string, options: PackOptions) =>
      setStatus(await runCommand(async () => (await import("./plugin.ts")).packPlugin(folder, options))),
    );
  return plugin;
}

function addServeCommand(program: Command, setStatus: SetStatus): void {
  program
    .command("serve")
    .description("run a node of the control plane until SIGTERM; settings come from the environment")
    .option("--roles <roles>", "edge, gateway and worker, separated by commas; default all (MILLRACE_ROLES)")
    .option("--data-dir <dir>", "the directory for the data of an embedded Redis and SQLite (MILLRACE_DATA_DIR)")
    .option(
      "--object-storage <s3-url>",
      "where the content of artifacts, caches and uploads is (MILLRACE_OBJECT_STORAGE)",
    )
    .action(async (options: ServeOptions) =>
      setStatus(
        await runCommand(async (signal) => (await loadNode(() => import("./serve.ts"))).serve(options, signal), {
          runsUntilSigterm: true,
        }),
      ),
    );
}

function addAgentCommands(program: Command, setStatus: SetStatus): void {
  program
    .command("agent")
    .summary("run an agent until SIGTERM")
    .description(
      "run an agent until SIGTERM; settings come from options, then the environment, then a file: the first that sets one counts",
    )
    .option("--config <file>", "a YAML file with these options as keys (MILLRACE_AGENT_CONFIG)")
    .option("--gateway <host:port>", "the control plane's gateway (MILLRACE_GATEWAY)")
    .option(
      "--security <kind>",
      "tls or plaintext; by default plaintext, and only to a gateway on this machine (MILLRACE_GATEWAY_SECURITY)",
    )
    .option("--ca <file>", "the certificate authorities that the agent trusts, PEM (MILLRACE_GATEWAY_CA_FILE)")
    .option("--cert <file>", "the agent's client certificate, PEM (MILLRACE_GATEWAY_CERT_FILE)")
    .option("--key <file>", "the key of the client certificate, PEM (MILLRACE_GATEWAY_KEY_FILE)")
    .option(
      "--identity-token-file <file>",
      "identity token of a trusted issuer, in place of a registration token (MILLRACE_IDENTITY_TOKEN_FILE)",
    )
    .option("--name <name>", "default: the host's name (MILLRACE_AGENT_NAME)")
    .option("--slots <n>", "how many jobs run at a time (MILLRACE_AGENT_SLOTS)")
    .addOption(new Option("--once", "end after one job: --max-jobs 1").conflicts("maxJobs"))
    .option("--max-jobs <n>", "end after this many jobs; default: never (MILLRACE_AGENT_MAX_JOBS)")
    .option(
      "--idle-exit <duration>",
      "end after this time without a job, such as 5m; default: never (MILLRACE_AGENT_IDLE_EXIT)",
    )
    .option("--labels <k=v,...>", "labels by which jobs select this agent (MILLRACE_AGENT_LABELS)")
    .option(
      "--facts <on|off>",
      "whether to add the labels os, arch, hostname, cores and step-isolation; default on (MILLRACE_AGENT_FACTS)",
    )
    .option("--step-user <name>", "the user as whom steps run; default: the agent's own (MILLRACE_STEP_USER)")
    .option("--plugin-dirs <dirs>", "folders with plugins of your own (MILLRACE_AGENT_PLUGIN_DIRS)")
    .option("--plugin-cache <size>", "disk space for fetched plugins; default 1GB (MILLRACE_AGENT_PLUGIN_CACHE)")
    .option("--data-dir <dir>", "the directory for workspaces and the agent's identity (MILLRACE_DATA_DIR)")
    .option(
      "--drain-timeout <duration>",
      "time for running jobs to end after SIGTERM; default 25s (MILLRACE_AGENT_DRAIN_TIMEOUT)",
    )
    .option(
      "--min-free-disk <size>",
      "below this free disk space no job begins: 2GB, 5% or 0; default the lesser of 1GiB and 5% (MILLRACE_AGENT_MIN_FREE_DISK)",
    )
    .option(
      "--step-isolation <kind>",
      "how processes of steps are found: auto, cgroup, pid-namespace, subreaper or mark; default auto (MILLRACE_AGENT_STEP_ISOLATION)",
    )
    .option(
      "--container-engine <name>",
      "what runs the containers of jobs: auto, podman, docker or off; default auto (MILLRACE_AGENT_CONTAINER_ENGINE)",
    )
    .option("--container-images <list>", "the images that jobs may use; default: all (MILLRACE_AGENT_CONTAINER_IMAGES)")
    .option("--image-cache <size>", "disk space for pulled images; default 20GB (MILLRACE_AGENT_IMAGE_CACHE)")
    .option(
      "--isolation <kind>",
      "what steps without a container run in: none, container (they do not run here) or namespaces; default none (MILLRACE_AGENT_ISOLATION)",
    )
    .option(
      "--isolation-network <on|off>",
      "whether steps in namespaces reach the network; default off (MILLRACE_AGENT_ISOLATION_NETWORK)",
    )
    .option(
      "--step-memory <size>",
      "the memory of a step without a container, such as 2GB (MILLRACE_AGENT_STEP_MEMORY)",
    )
    .option("--step-pids <n>", "the processes of a step without a container (MILLRACE_AGENT_STEP_PIDS)")
    .option("--step-cpus <n>", "the processors of a step without a container, such as 1.5 (MILLRACE_AGENT_STEP_CPUS)")
    .option(
      "--log-buffer <size>",
      "disk space for log lines that cannot be sent yet; default 256MiB (MILLRACE_AGENT_LOG_BUFFER)",
    )
    .option("--print-config", "print the settings as JSON, without secrets, and end")
    .addOption(new Option("--lifeline", "end at once when stdin closes").hideHelp())
    .addOption(new Option("--keeper-socket <path>", "end when no process connects to this socket").hideHelp())
    .addOption(new Option("--keeper-settings <digest>", "the settings of this agent").hideHelp())
    .action(async (options: AgentOptions) =>
      setStatus(
        await runCommand(async (signal, urgent) => (await import("./agent.ts")).agent(options, signal, urgent), {
          runsUntilSigterm: true,
          boundsShutdown: true,
        }),
      ),
    );

  program
    .command("agent-conformance")
    .description(
      "test any agent that speaks the agent protocol, on a temporary control plane; exit status 0 when every case passes",
    )
    .argument("[command...]", "after --: the agent's program and its arguments, started without a shell")
    .option("--address <host:port>", "the address that the agent connects to", "127.0.0.1:0")
    .addOption(
      new Option("--mode <mode>", "how the agent receives steps: push over Connect, pull by FetchStepRun")
        .choices(["push", "pull"])
        .default("push"),
    )
    .option("--container-image <image>", "also run the cases with containers, in this image with /bin/sh")
    .option("--only <text>", "run only cases whose name contains this text")
    .option("--json", "print { passed, failed, skipped, cases } at the end")
    .action(async (command: readonly string[], options: AgentConformanceOptions) =>
      setStatus(
        await runCommand(async (signal) =>
          (await import("./agent-conformance.ts")).agentConformance(command, options, signal),
        ),
      ),
    );
}

function addCopyCommands(program: Command, setStatus: SetStatus): void {
  program
    .command("backup")
    .summary("copy an installation on SQLite into one new file, also while it runs")
    .description(
      "copy an installation on SQLite into one new file, also while it runs; the file holds the signing key, the " +
        "master keys, the definitions and the logs, so keep it secret. Redis and the agents need no backup",
    )
    .argument("<file>", "the file to write; it must not exist")
    .option("--data-dir <dir>", "the installation (MILLRACE_DATA_DIR)")
    .action(async (file: string, options: BackupOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./backup.ts")).backup(file, options, signal))),
    );

  program
    .command("restore")
    .description("create an installation on SQLite from a backup; then start it as usual")
    .argument("<file>", "a file that `millrace backup` has written")
    .option("--data-dir <dir>", "the directory to fill; it must be empty (MILLRACE_DATA_DIR)")
    .action(async (file: string, options: RestoreOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./restore.ts")).restore(file, options, signal))),
    );
}

/** Answers the command without adding it to the program: it has commands for a server, too, and is listed with them. */
function secretCommand(program: Command, setStatus: SetStatus): Command {
  const secrets = program.createCommand("secrets").copyInheritedSettings(program);
  secrets
    .command("rotate-key")
    .description(
      "encrypt every secret with the newest master key, also while the installation runs: the first key of " +
        "MILLRACE_MASTER_KEY, or a new key in the data directory. It may be interrupted and repeated",
    )
    .option("--data-dir <dir>", "the installation on SQLite (MILLRACE_DATA_DIR)")
    .action(async (options: RotateKeyOptions) =>
      setStatus(await runCommand(async () => (await import("./secrets.ts")).rotateKey(options))),
    );

  return secrets;
}

function addShardCommand(program: Command, setStatus: SetStatus): void {
  program
    .command("shards")
    .description("manage the shards of an installation")
    .command("set")
    .description(
      "change the number of shards, and move everything that is stored; no node may run meanwhile. It may be " +
        "interrupted and repeated, and nodes refuse to start until it is done",
    )
    .argument("<n>", "the number of shards, 1 to 1024")
    .option("--data-dir <dir>", "the installation on SQLite (MILLRACE_DATA_DIR)")
    .action(async (n: string, options: SetShardsOptions) =>
      setStatus(await runCommand(async () => (await import("./shards.ts")).setShards(n, options))),
    );
}

function addObjectStorageCommand(program: Command, setStatus: SetStatus): void {
  program
    .command("object-storage")
    .description("manage the object storage of an installation")
    .command("return-logs")
    .description(
      "move the logs that are in the object storage back into the store, also while the installation runs; set " +
        "MILLRACE_OBJECT_STORAGE_LOGS=off on its nodes first. It may be interrupted and repeated",
    )
    .option("--data-dir <dir>", "the installation on SQLite (MILLRACE_DATA_DIR)")
    .action(async (options: ReturnLogsOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./object-storage.ts")).returnLogs(options, signal))),
    );
}

/** Answers the command without adding it to the program, as {@link secretCommand} does. */
function userCommand(program: Command, setStatus: SetStatus): Command {
  const users = program.createCommand("users").copyInheritedSettings(program);
  users
    .command("make-owner")
    .description("make a user an owner again when no owner can log in any more, also while the installation runs")
    .argument("<name>", "the user")
    .option("--reset", "forget the password, end the logins, and print a token for one hour")
    .option("--data-dir <dir>", "the installation on SQLite (MILLRACE_DATA_DIR)")
    .action(async (name: string, options: MakeOwnerOptions) =>
      setStatus(await runCommand(async () => (await import("./users.ts")).makeOwner(name, options))),
    );

  return users;
}

function addRepairCommands(program: Command, setStatus: SetStatus): void {
  program
    .command("repair")
    .description(
      "make an installation consistent after its MongoDB was restored from a dump; no node may run meanwhile",
    )
    .action(async () => setStatus(await runCommand(async () => (await import("./repair.ts")).repair())));

  program
    .command("verify")
    .description(
      "check that what an installation has stored is consistent, also while it runs; changes nothing; exit status 0 " +
        "when it is, else 1",
    )
    .option("--data-dir <dir>", "the installation on SQLite (MILLRACE_DATA_DIR)")
    .option("--json", "print { read, differences, more, skipped }")
    .action(async (options: VerifyCommandOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./verify.ts")).verify(options, signal))),
    );
}

const stdinFormat = () =>
  new Option("--format <format>", "the format of standard input").choices(["yaml", "json"]).default("yaml");
const collect = (value: string, values: readonly string[]) => [...values, value];

/** Loads a command that runs a node in this process. V8 must know so before it has the modules of the node. */
function loadNode<T>(load: () => Promise<T>): Promise<T> {
  optimiseLess();
  return load();
}
