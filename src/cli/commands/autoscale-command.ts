/** The command `millrace autoscale`: its arguments and options. */
import type { Command } from "commander";
import { runCommand } from "../command-line.ts";
import type { SetStatus } from "./remote-command.ts";
import type { AutoscaleOptions } from "./remote/autoscale.ts";

export function addAutoscaleCommand(program: Command, setStatus: SetStatus): void {
  program
    .command("autoscale")
    .description("start and stop agents as jobs wait for them; runs until a signal ends it, and its agents go on")
    .argument("[arguments...]", "after --: arguments of the agent, or of the program of --command")
    .requiredOption("--labels <k=v,...>", "the labels of the agents; jobs that such an agent would get count")
    .requiredOption("--max <n>", "the most agents")
    .requiredOption("--data-dir <dir>", "the directory for what was started, and for the agents' data and logs")
    .option("--min <n>", "the fewest agents", "0")
    .option(
      "--command <program>",
      "starts one agent, without a shell, and runs as long as it; default: millrace agent --once",
    )
    .option("--name <prefix>", "the agents are named PREFIX-1, PREFIX-2 and so on", "auto")
    .option("--slots <n>", "jobs that one agent takes at a time", "1")
    .option("--trusted <keys>", "keys of the labels that an operator gives, separated by commas")
    .option("--project <project>", "count jobs of this project alone, by name or id")
    .option("--tenant <tenant>", "count jobs of this tenant alone, by name or id")
    .option("--idle-time <duration>", "an agent that is not needed is stopped after this time without a job", "5m")
    .option("--interval <duration>", "between two looks at the demand", "5s")
    .option("--context <name>", "the server that `millrace login` gave this name; default: the current context")
    .option("--json", "print errors as JSON")
    .action(async (args: readonly string[], options: AutoscaleOptions) =>
      setStatus(
        await runCommand(async (signal) => (await import("./remote/autoscale.ts")).autoscale(args, options, signal), {
          runsUntilSigterm: true,
        }),
      ),
    );
}
