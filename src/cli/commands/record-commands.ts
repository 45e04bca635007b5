/** The commands on what an installation keeps beside its runs: settings, variables, uploads, statistics, the audit log and system events. */
import { type Command, Option } from "commander";
import { count, limit, project, remote, type SetStatus } from "./remote-command.ts";

/** Adds the commands to the program. */
export function addRecordCommands(program: Command, setStatus: SetStatus): void {
  const tenant = () => new Option("--tenant <tenant>", "name or id of the tenant");
  const name = ["<name>", "its name"] as const;

  const settings = remote(
    program.command("settings"),
    "list settings with the level that each value is from",
    setStatus,
    {
      options: [project(), tenant()],
      run: async (signal, options) => (await import("./remote/settings.ts")).listSettings(options, signal),
    },
  );
  remote(settings.command("set"), "change a setting of the installation, a tenant or a project", setStatus, {
    args: [name, ["<value>", "JSON, or a word"]],
    options: [project(), tenant()],
    run: async (signal, options, key, value) =>
      (await import("./remote/settings.ts")).changeSetting(key!, value!, options, signal),
  });
  remote(settings.command("unset"), "let a setting come from the next level again", setStatus, {
    args: [name],
    options: [project(), tenant()],
    run: async (signal, options, key) =>
      (await import("./remote/settings.ts")).changeSetting(key!, undefined, options, signal),
  });

  const variables = remote(program.command("variables"), "list the variables of a project or a tenant", setStatus, {
    options: [project(), tenant()],
    run: async (signal, options) => (await import("./remote/variables.ts")).listVariables(options, signal),
  });
  remote(variables.command("set"), "create or change a variable; everybody who sees the project sees it", setStatus, {
    args: [
      ["<name>", "as definitions name it"],
      ["<value>", "its value"],
    ],
    options: [project(), tenant()],
    run: async (signal, options, key, value) =>
      (await import("./remote/variables.ts")).setVariable(key!, value!, options, signal),
  });
  remote(variables.command("delete"), "delete a variable", setStatus, {
    args: [name],
    options: [project(), tenant()],
    run: async (signal, options, key) => (await import("./remote/variables.ts")).deleteVariable(key!, options, signal),
  });

  const id = ["<id>", "the upload's id"] as const;
  const uploads = remote(program.command("uploads"), "list the files that users have sent to a project", setStatus, {
    options: [project(), limit()],
    run: async (signal, options) => (await import("./remote/uploads.ts")).listUploads(options, signal),
  });
  remote(uploads.command("put"), "send a file", setStatus, {
    args: [["<file>", "its path"]],
    options: [project(), new Option("--type <type>", "its media type, for example text/csv")],
    run: async (signal, options, file) => (await import("./remote/uploads.ts")).putUpload(file!, options, signal),
  });
  remote(uploads.command("get"), "fetch the content of an upload", setStatus, {
    args: [id],
    options: [project(), new Option("--output <file>", "default: standard output")],
    run: async (signal, options, upload) => (await import("./remote/uploads.ts")).getUpload(upload!, options, signal),
  });
  remote(uploads.command("delete"), "delete an upload with its content", setStatus, {
    args: [id],
    options: [project()],
    run: async (signal, options, upload) =>
      (await import("./remote/uploads.ts")).deleteUpload(upload!, options, signal),
  });

  remote(program.command("stats"), "show how the runs and jobs of a pipeline end, and how long they take", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [project(), count("--days <n>", "of the last days, today included; default 30")],
    run: async (signal, options, pipeline) => (await import("./remote/stats.ts")).showStats(pipeline!, options, signal),
  });

  remote(program.command("tests"), "list the flaky, failing or slowest tests of a pipeline", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [
      project(),
      new Option("--filter <which>", "default: flaky").choices(["flaky", "failing", "slowest"]),
      limit(),
    ],
    run: async (signal, options, pipeline) => (await import("./remote/tests.ts")).listTests(pipeline!, options, signal),
  });

  const filters = () => [
    new Option("--actor <id>", "of this user, agent or token"),
    new Option("--operation <name>", "for example createUser"),
    new Option("--object <id>", "on this object"),
    project(),
    new Option("--outcome <outcome>", "what was done, or what was refused").choices(["done", "refused"]),
    new Option("--since <time>", "from then on: a time, or a duration such as 24h"),
    new Option("--until <time>", "before then"),
  ];
  const audit = remote(program.command("audit"), "list who changed what, the newest first", setStatus, {
    options: [...filters(), limit()],
    run: async (signal, options) => (await import("./remote/audit.ts")).listAudit(options, signal),
  });
  remote(audit.command("export"), "print every entry as JSON, one a line, the oldest first", setStatus, {
    options: filters(),
    run: async (signal, options) => (await import("./remote/audit.ts")).exportAudit(options, signal),
  });

  remote(program.command("system-events"), "list what has happened to a tenant or the installation", setStatus, {
    options: [
      tenant(),
      new Option("--installation", "what belongs to no tenant"),
      new Option("--objects <objects>", "of these objects, for example agent,definition"),
      limit(),
      new Option("--follow", "go on with each new event"),
    ],
    run: async (signal, options) => (await import("./remote/system-events.ts")).systemEvents(options, signal),
  });
}
