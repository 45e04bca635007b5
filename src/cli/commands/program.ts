/**
 * The command line: commands, their options, and exit statuses (0 ok, 1 failure, 2 usage, 130 after Ctrl-C). What a
 * command needs is loaded with it alone: an agent has no use for a control plane in its memory.
 */
import { Command, CommanderError, Option } from "commander";
import type { AgentOptions } from "./agent.ts";
import type { AgentConformanceOptions } from "./agent-conformance.ts";
import type { BackupOptions } from "./backup.ts";
import { runCommand } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { packageVersion } from "../../node/package-root.ts";
import type { PlanOptions } from "./plan.ts";
import type { PackOptions, PushOptions } from "./plugin.ts";
import type { RestoreOptions } from "./restore.ts";
import type { RotateKeyOptions } from "./secrets.ts";
import type { RunOptions } from "./run.ts";
import type { ServeOptions } from "./serve.ts";
import type { StartOptions } from "./start.ts";
import type { ValidateOptions } from "./validate.ts";

/** Runs the program with `argv` (without the interpreter and the script) and answers its exit status. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let status: number = EXIT.ok;
  const program = buildProgram((answer) => (status = answer));
  try {
    await program.parseAsync(argv, { from: "user" });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const answered = error.code === "commander.helpDisplayed" || error.code === "commander.version";
    return answered ? EXIT.ok : EXIT.usage;
  }
}

function buildProgram(setStatus: (status: number) => void): Command {
  const program = new Command("millrace")
    .description("Runs pipelines on agents: control plane, agent and local runs in one program.")
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError("(--help tells more)");

  program
    .command("start")
    .description("run a whole installation on this machine: Redis, control plane, one agent, and a sample pipeline")
    .option("--once", "end after a run of the sample; exit status 0 when it succeeded")
    .option("--data-dir <dir>", "where everything is kept (MILLRACE_DATA_DIR)")
    .option("--new-token", "make and show a further administrator token")
    .action(async (options: StartOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./start.ts")).start(options, signal))),
    );

  program
    .command("run")
    .description("run one pipeline definition on this machine and leave nothing behind")
    .argument("<file>", "the definition, YAML or JSON")
    .option("--var <name=value>", "a variable of the run; `checkout` is the current directory", collect, [])
    .option("--verbose", "show every log line")
    .option("--approve", "give every approval that the run asks for")
    .action(async (file: string, options: RunOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./run.ts")).run(file, options, signal))),
    );

  program
    .command("validate")
    .description("tell everything that is wrong with definitions; exit status 0 when no file has an error, else 1")
    .argument("<files...>", "definitions, YAML or JSON; - for standard input")
    .addOption(stdinFormat())
    .option("--json", "print [{ file, valid, diagnostics }]")
    .action(async (files: readonly string[], options: ValidateOptions) =>
      setStatus(await runCommand(async () => (await import("./validate.ts")).validate(files, options))),
    );

  program
    .command("plan")
    .description("show what a trigger would make of a definition, and what decided; nothing runs")
    .argument("<file>", "the definition, YAML or JSON; - for standard input")
    .addOption(new Option("--trigger <kind>", "what starts it").choices(["manual", "cron", "event"]).default("manual"))
    .option("--ref <ref>", "`trigger.ref`; default: the variable `ref`, else the default branch of --pipeline-id")
    .option("--payload <file>", "a JSON object whose fields are `trigger.<field>`")
    .option("--var <name=value>", "a variable of the run", collect, [])
    .option("--pipeline <name>", "`pipeline.name`; default: the file's name")
    .addOption(stdinFormat())
    .option("--json", "print what POST .../plan answers as `detail`")
    .option("--server <url>", "plan on that control plane, to see its agents; its token is in MILLRACE_TOKEN")
    .option("--pipeline-id <id>", "the pipeline on that control plane")
    .action(async (file: string, options: PlanOptions) =>
      setStatus(await runCommand(async () => (await import("./plan.ts")).plan(file, options))),
    );

  program
    .command("schema")
    .description("print the JSON Schema of definitions, for editors")
    .action(async () => setStatus(await runCommand(async () => (await import("./schema.ts")).schema())));

  const plugin = program.command("plugin").description("packages of plugins");
  plugin
    .command("pack")
    .description("check a plugin and write its package")
    .argument("<folder>", "the folder with the plugin.yaml")
    .option("--output <file>", "default: <name>-<version>.tar.gz here")
    .action(async (folder: string, options: PackOptions) =>
      setStatus(await runCommand(async () => (await import("./plugin.ts")).packPlugin(folder, options))),
    );
  plugin
    .command("push")
    .description("check a plugin and register it; a version that is there does not change")
    .argument("<folder>", "the folder with the plugin.yaml")
    .requiredOption("--server <url>", "the control plane; an administrator's token is in MILLRACE_TOKEN")
    .action(async (folder: string, options: PushOptions) =>
      setStatus(await runCommand(async () => (await import("./plugin.ts")).pushPlugin(folder, options))),
    );

  program
    .command("serve")
    .description("run a node of the control plane until SIGTERM; settings come from the environment")
    .option("--roles <roles>", "edge, gateway and worker, separated by commas; default all (MILLRACE_ROLES)")
    .option("--data-dir <dir>", "where an embedded Redis and SQLite keep their data (MILLRACE_DATA_DIR)")
    .action(async (options: ServeOptions) =>
      setStatus(
        await runCommand(async (signal) => (await import("./serve.ts")).serve(options, signal), { asked: true }),
      ),
    );

  program
    .command("agent")
    .description(
      "run an agent until SIGTERM; settings come from options, the environment and a file, in this order: the first one counts",
    )
    .option("--config <file>", "YAML, with these options as keys (MILLRACE_AGENT_CONFIG)")
    .option("--gateway <host:port>", "the control plane's gateway (MILLRACE_GATEWAY)")
    .option(
      "--security <kind>",
      "tls or plaintext; default plaintext to this machine alone (MILLRACE_GATEWAY_SECURITY)",
    )
    .option("--ca <file>", "authorities to trust for tls, PEM (MILLRACE_GATEWAY_CA_FILE)")
    .option("--cert <file>", "certificate to show, PEM (MILLRACE_GATEWAY_CERT_FILE)")
    .option("--key <file>", "its key, PEM (MILLRACE_GATEWAY_KEY_FILE)")
    .option("--name <name>", "default: the host's name (MILLRACE_AGENT_NAME)")
    .option("--slots <n>", "jobs at a time (MILLRACE_AGENT_SLOTS)")
    .option("--labels <k=v,...>", "what jobs select agents by (MILLRACE_AGENT_LABELS)")
    .option("--facts <on|off>", "labels os, arch, hostname and cores; default on (MILLRACE_AGENT_FACTS)")
    .option("--plugin-dirs <dirs>", "folders with plugins of your own (MILLRACE_AGENT_PLUGIN_DIRS)")
    .option("--plugin-cache <size>", "disk for plugins that were fetched; default 1GB (MILLRACE_AGENT_PLUGIN_CACHE)")
    .option("--data-dir <dir>", "workspaces and identity (MILLRACE_DATA_DIR)")
    .option("--drain-timeout <duration>", "for jobs to end after SIGTERM; default 25s (MILLRACE_AGENT_DRAIN_TIMEOUT)")
    .option(
      "--min-free-disk <size>",
      "below it no job begins: 2GB, 5% or 0; default the lesser of 1GiB and 5% (MILLRACE_AGENT_MIN_FREE_DISK)",
    )
    .option("--log-buffer <size>", "disk for log lines that cannot be sent; default 256MiB (MILLRACE_AGENT_LOG_BUFFER)")
    .option("--print-config", "print the settings as JSON, without secrets, and end")
    .addOption(new Option("--lifeline", "end at once when stdin closes").hideHelp())
    .action(async (options: AgentOptions) =>
      setStatus(
        await runCommand(async (signal, urgent) => (await import("./agent.ts")).agent(options, signal, urgent), {
          asked: true,
          endsInTime: true,
        }),
      ),
    );

  program
    .command("agent-conformance")
    .description(
      "put any agent of the protocol through its cases, against a control plane of its own; exit status 0 when it passes",
    )
    .argument("[command...]", "after --: the agent's program and its arguments, started without a shell")
    .option("--address <host:port>", "where the agent connects to", "127.0.0.1:0")
    .addOption(
      new Option("--mode <mode>", "push: over Connect; pull: by FetchStepRun")
        .choices(["push", "pull"])
        .default("push"),
    )
    .option("--only <text>", "only cases whose name holds this text")
    .option("--json", "print { passed, failed, skipped, cases } when all are over")
    .action(async (command: readonly string[], options: AgentConformanceOptions) =>
      setStatus(
        await runCommand(async (signal) =>
          (await import("./agent-conformance.ts")).agentConformance(command, options, signal),
        ),
      ),
    );

  program
    .command("backup")
    .description(
      "copy an installation on SQLite into one new file, also while it works; the file holds the signing key, the " +
        "master keys, the definitions and the logs, so keep it secret. Redis and agents are not in it, and need not be",
    )
    .argument("<file>", "where to; it must not be there yet")
    .option("--data-dir <dir>", "the installation (MILLRACE_DATA_DIR)")
    .action(async (file: string, options: BackupOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./backup.ts")).backup(file, options, signal))),
    );

  program
    .command("restore")
    .description("make an installation on SQLite out of a backup; start it as before afterwards")
    .argument("<file>", "what `millrace backup` has made")
    .option("--data-dir <dir>", "where to; nothing may be in it yet (MILLRACE_DATA_DIR)")
    .action(async (file: string, options: RestoreOptions) =>
      setStatus(await runCommand(async (signal) => (await import("./restore.ts")).restore(file, options, signal))),
    );

  program
    .command("secrets")
    .description("keep the secrets of an installation")
    .command("rotate-key")
    .description(
      "seal every secret with the newest master key, also while the installation works: the first of " +
        "MILLRACE_MASTER_KEY, or a new one in the data directory. It may be cut short and repeated",
    )
    .option("--data-dir <dir>", "the installation on SQLite (MILLRACE_DATA_DIR)")
    .action(async (options: RotateKeyOptions) =>
      setStatus(await runCommand(async () => (await import("./secrets.ts")).rotateKey(options))),
    );

  program
    .command("repair")
    .description("make an installation fit for work whose MongoDB was restored from a dump; no node may run meanwhile")
    .action(async () => setStatus(await runCommand(async () => (await import("./repair.ts")).repair())));

  return program;
}

const stdinFormat = () =>
  new Option("--format <format>", "of standard input").choices(["yaml", "json"]).default("yaml");
const collect = (value: string, values: readonly string[]) => [...values, value];
