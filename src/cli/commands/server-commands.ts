/** The commands that call a server: their arguments and options. Each is imported only when it runs. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { runCommand } from "../command-line.ts";
import { addAutoscaleCommand } from "./autoscale-command.ts";
import { addHookCommands } from "./hook-commands.ts";
import { addRecordCommands } from "./record-commands.ts";
import { collect, count, limit, listed, project, remote, ROLES, type SetStatus, someOf } from "./remote-command.ts";
import { addPipelineCommands } from "./pipeline-commands.ts";
import { addPluginCommands } from "./plugin-commands.ts";
import { addNotificationCommands, addSecretCommands, addUserCommands } from "./user-commands.ts";

const SCOPES = ["read", "trigger", "write", "admin", "act-as"] as const;
const RUN_STATUSES = ["pending", "running", "success", "failed", "cancelled", "paused", "partial"] as const;
const DEPLOYMENT_STATUSES = ["running", "success", "failed", "cancelled"] as const;

/** Groups that also hold commands which work without a context: on the machine of an installation, or on files. */
export interface SharedGroups {
  readonly plugin: Command;
  readonly secrets: Command;
  readonly users: Command;
}

/** Adds the commands to the program. */
export function addServerCommands(
  program: Command,
  setStatus: SetStatus,
  { plugin, secrets, users }: SharedGroups,
): void {
  addSessionCommands(program, setStatus);
  addPipelineCommands(program, setStatus);
  addScheduleCommands(program, setStatus);
  addHookCommands(program, setStatus);
  addRunCommands(program, setStatus);
  addEnvironmentCommands(program, setStatus);
  addObjectCommands(program, setStatus);
  program.addCommand(secrets).addCommand(users);
  addSecretCommands(secrets, setStatus);
  addUserCommands(users, setStatus);
  addNotificationCommands(program, setStatus);
  addPluginCommands(plugin, setStatus);
  addRecordCommands(program, setStatus);
  addAutoscaleCommand(program, setStatus);

  remote(program.command("api"), "call the API as it is, and print the whole answer", setStatus, {
    args: [
      ["<method>", "GET, POST, PUT, PATCH or DELETE"],
      ["<path>", "below /api/v1, for example /pipelines?name=hello"],
    ],
    options: [
      new Option("-f, --field <name=value>", "a member of the body; a value that is JSON is sent as such")
        .argParser(collect)
        .default([]),
      new Option("--input <file>", "the body; - for standard input"),
      new Option("--idempotency-key <key>", "makes a POST safe to repeat"),
      new Option("--if-match <etag>", "change the object only while it has this ETag"),
    ],
    run: async (signal, options, method, path) =>
      (await import("./remote/api.ts")).callApi(method!, path!, options, signal),
  });

  program
    .command("completion")
    .description("print a script that completes commands and options: bash, zsh or fish")
    .argument("<shell>", "bash, zsh or fish")
    .action(async (shell: string) =>
      setStatus(await runCommand(async () => (await import("./completion.ts")).printCompletion(program, shell))),
    );
}

function addSessionCommands(program: Command, setStatus: SetStatus): void {
  remote(
    program.command("login"),
    "log in to a server; by default another device confirms it in a browser",
    setStatus,
    {
      args: [["[url]", "the server; default: that of the context, or MILLRACE_URL"]],
      options: [
        new Option("--with-token", "read a token from standard input"),
        new Option("--name <user>", "log in with a password, which is asked for or read from standard input"),
        new Option("--link <link>", "accept an invitation or a reset link: choose a password, and log in with it"),
      ],
      run: async (signal, options, url) => (await import("./remote/login.ts")).login(url, options, signal),
    },
  );
  remote(program.command("logout"), "end the login of a context, and forget the context", setStatus, {
    run: async (signal, options) => (await import("./remote/login.ts")).logout(options, signal),
  });
  remote(program.command("whoami"), "show who the server takes you for, and what you may do", setStatus, {
    run: async (signal, options) => (await import("./remote/login.ts")).whoami(options, signal),
  });
  const contexts = remote(program.command("contexts"), "list the servers that you have logged in to", setStatus, {
    run: async (_, options) => (await import("./remote/login.ts")).listContexts(options),
  });
  remote(contexts.command("use"), "make a context the current one", setStatus, {
    args: [["<name>", "the context"]],
    run: async (_, options, name) => (await import("./remote/login.ts")).useContext(name!, options),
  });
}

function addScheduleCommands(program: Command, setStatus: SetStatus): void {
  const pipeline = ["<pipeline>", "name or id"] as const;
  const schedule = ["<schedule>", "name of the cron trigger; its number when it has none"] as const;
  const schedules = remote(program.command("schedules"), "list the schedules of a pipeline", setStatus, {
    args: [pipeline],
    options: [project()],
    run: async (signal, options, name) => (await import("./remote/schedules.ts")).listSchedules(name!, options, signal),
  });
  remote(schedules.command("show"), "show the next times of a schedule and the last outcomes", setStatus, {
    args: [pipeline, schedule],
    options: [project()],
    run: async (signal, options, of, name) =>
      (await import("./remote/schedules.ts")).showSchedule(of!, name!, options, signal),
  });
  remote(schedules.command("pause"), "skip the times of a schedule until it is resumed", setStatus, {
    args: [pipeline, schedule],
    options: [project(), new Option("--reason <text>", "shown with the schedule")],
    run: async (signal, options, of, name) =>
      (await import("./remote/schedules.ts")).pauseSchedule(of!, name!, options, signal),
  });
  remote(schedules.command("resume"), "resume a paused schedule", setStatus, {
    args: [pipeline, schedule],
    options: [project()],
    run: async (signal, options, of, name) =>
      (await import("./remote/schedules.ts")).resumeSchedule(of!, name!, options, signal),
  });
}

function addEnvironmentCommands(program: Command, setStatus: SetStatus): void {
  const about = "list what pipelines have deployed where";
  const environments = remote(program.command("environments"), about, setStatus, {
    args: [["[environment]", "name; default: all"]],
    options: [project(), limit()],
    run: async (signal, options, name) =>
      (await import("./remote/environments.ts")).listEnvironments(name, options, signal),
  });
  remote(environments.command("history"), "list the deployments to an environment, the newest first", setStatus, {
    args: [["<environment>", "name"]],
    options: [
      project(),
      new Option("--pipeline <pipeline>", "only those of this pipeline, by name or id"),
      new Option("--status <status>", "only those in this status").choices(DEPLOYMENT_STATUSES),
      limit(),
    ],
    run: async (signal, options, name) =>
      (await import("./remote/environments.ts")).listDeployments(name!, options, signal),
  });
}

function addRunCommands(program: Command, setStatus: SetStatus): void {
  const runs = remote(program.command("runs"), "list runs of one or all pipelines, the newest first", setStatus, {
    args: [["[pipeline]", "name or id; default: all that you may see"]],
    options: [
      project(),
      new Option("--status <status>", "only runs in this status; may be repeated").argParser(someOf(RUN_STATUSES)),
      new Option("--mine", "only runs that you have triggered"),
      new Option("--by <user>", "only runs that this user has triggered"),
      new Option("--ref <ref>", "only runs of this ref"),
      new Option("--trigger <kind>", "only runs by this kind of trigger").choices(["manual", "cron", "event"]),
      new Option("--since <time>", "only runs from then on: a time, or a duration such as 24h"),
      limit(),
    ],
    run: async (signal, options, pipeline) => (await import("./remote/runs.ts")).listRuns(pipeline, options, signal),
  });
  remote(runs.command("show"), "show a run with its jobs and steps", setStatus, {
    args: [RUN],
    options: [project()],
    run: async (signal, options, run) => (await import("./remote/runs.ts")).showRun(run!, options, signal),
  });
  remote(runs.command("watch"), "show the progress of a run until it ends; exit status 0 when it succeeds", setStatus, {
    args: [RUN],
    options: [project(), withLogs()],
    run: async (signal, options, run) => (await import("./remote/runs.ts")).watch(run!, options, signal),
  });
  remote(runs.command("update"), "change the priority or the notes of a step that waits", setStatus, {
    args: [RUN, ["<step>", "its id, STEP, or JOB/STEP"]],
    options: [
      project(),
      new Option(
        "--priority <n>",
        "of the job of the step, from -100 to 100; the larger one gets an agent first",
      ).argParser(parsePriority),
      listed("--note <name=value>", "a note of the step; an empty value removes it; may be repeated"),
    ],
    run: async (signal, options, run, step) =>
      (await import("./remote/update-step.ts")).updateStep(run!, step!, options, signal),
  });
  remote(program.command("trigger"), "start a run of a pipeline", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [
      project(),
      new Option("--var <name=value>", "a variable of the run").argParser(collect).default([]),
      new Option("--upload <name=file>", "a file, or the id of an upload, for the steps of the run")
        .argParser(collect)
        .default([]),
      new Option("--ref <ref>", "of a definition in Git: the branch, tag or commit to run"),
      new Option("--watch", "show the progress until the run ends; exit status 0 when it succeeds"),
      withLogs(),
      new Option("--request-id <id>", "a repeat with this id answers the same run"),
    ],
    run: async (signal, options, pipeline) => (await import("./remote/runs.ts")).trigger(pipeline!, options, signal),
  });
  remote(program.command("logs"), "print the logs of a run", setStatus, {
    args: [RUN],
    options: [
      project(),
      new Option("-f, --follow", "print lines as they come, until the run ends"),
      new Option("--job <name>", "only of this job"),
      new Option("--step <name>", "only of this step"),
      new Option("--search <text>", "only lines with this text; exit status 1 when there is none").conflicts("follow"),
      new Option("--pattern", "the text is a pattern in the syntax of RE2"),
      new Option("--ignore-case", "upper and lower case are the same"),
      new Option("-C, --around <lines>", "show so many lines on both sides, at most 10").argParser(parseAround),
    ],
    run: async (signal, options, run) => (await import("./remote/logs.ts")).logs(run!, options, signal),
  });
  remote(program.command("stop"), "stop a run", setStatus, {
    args: [RUN],
    options: [project(), new Option("--reason <text>", "shown with the run")],
    run: async (signal, options, run) => (await import("./remote/runs.ts")).stop(run!, options, signal),
  });
  remote(program.command("rerun"), "run an ended run again, as a new attempt", setStatus, {
    args: [RUN],
    options: [
      project(),
      new Option("--failed", "only what failed, and what comes after it"),
      new Option("--step <id>", "from this step on: a stepRunId"),
      new Option("--watch", "show the progress until the run ends; exit status 0 when it succeeds"),
      withLogs(),
    ],
    run: async (signal, options, run) => (await import("./remote/runs.ts")).rerun(run!, options, signal),
  });
  remote(program.command("approve"), "approve what a run waits for, or reject it", setStatus, {
    args: [RUN],
    options: [
      project(),
      new Option("--reject", "reject it"),
      new Option("--comment <text>", "shown with the vote"),
      new Option("--gate <name>", "the stage or job, when several wait"),
    ],
    run: async (signal, options, run) => (await import("./remote/runs.ts")).approve(run!, options, signal),
  });
}

function addObjectCommands(program: Command, setStatus: SetStatus): void {
  const agents = remote(program.command("agents"), "list agents with their state and labels", setStatus, {
    run: async (signal, options) => (await import("./remote/agents.ts")).listAgents(options, signal),
  });
  remote(agents.command("show"), "show an agent with its jobs, and who has set its labels", setStatus, {
    args: [AGENT],
    run: async (signal, options, agent) => (await import("./remote/agents.ts")).showAgent(agent!, options, signal),
  });
  remote(agents.command("demand"), "show which jobs wait for agents, and which agents would serve them", setStatus, {
    options: [
      project(),
      new Option("--tenant <tenant>", "jobs of this tenant alone, by name or id"),
      new Option("--labels <k=v,...>", "only jobs that an agent with these labels would get"),
      new Option("--trusted <keys>", "keys of those labels that an operator gives, separated by commas"),
    ],
    run: async (signal, options) => (await import("./remote/agent-demand.ts")).showDemand(options, signal),
  });
  remote(agents.command("drain"), "let an agent take no new job; it finishes what it holds", setStatus, {
    args: [AGENT],
    options: [new Option("--reason <text>", "shown with the agent")],
    run: async (signal, options, agent) => (await import("./remote/agents.ts")).drainAgent(agent!, options, signal),
  });
  remote(agents.command("undrain"), "let a drained agent take jobs again", setStatus, {
    args: [AGENT],
    run: async (signal, options, agent) => (await import("./remote/agents.ts")).undrainAgent(agent!, options, signal),
  });
  remote(agents.command("reach"), "change which jobs an agent gets; those that it holds go on", setStatus, {
    args: [AGENT],
    options: [
      new Option("--tenant <tenant>", "jobs of this tenant alone, by name or id"),
      listed("--project <project>", "jobs of this project alone, by name or id; may be repeated"),
      new Option("--all", "jobs of every project").conflicts(["tenant", "project"]),
    ],
    run: async (signal, options, agent) => (await import("./remote/agents.ts")).changeReach(agent!, options, signal),
  });
  remote(agents.command("remove"), "remove an agent; its token is refused from then on", setStatus, {
    args: [AGENT],
    run: async (signal, options, agent) => (await import("./remote/agents.ts")).removeAgent(agent!, options, signal),
  });
  remote(agents.command("token"), "make a token with which new agents register", setStatus, {
    args: [["<name>", "what the token is for"]],
    options: [
      new Option("--expires-in <duration>", "for example 12h"),
      count("--max-uses <n>", "how many agents"),
      new Option("--tenant <tenant>", "agents that get jobs of this tenant alone, by name or id"),
      listed("--project <project>", "agents that get jobs of this project alone, by name or id; may be repeated"),
      listed("--label <key=value>", "a trusted label of the agents; may be repeated"),
    ],
    run: async (signal, options, name) => (await import("./remote/agents.ts")).createAgentToken(name!, options, signal),
  });

  const tokens = remote(program.command("tokens"), "list personal tokens", setStatus, {
    options: [ofUser()],
    run: async (signal, options) => (await import("./remote/tokens.ts")).listTokens(options, signal),
  });
  remote(tokens.command("create"), "make a personal token, for example for a script", setStatus, {
    args: [["<name>", "what the token is for"]],
    options: [
      ofUser(),
      new Option("--scope <scope>", "what the token may do at most; may be repeated; default: all that its user may")
        .argParser(someOf(SCOPES))
        .default([]),
      listed("--project <project>", "name or id of a project in which alone it counts; may be repeated"),
      new Option("--expires-in <duration>", "for example 90d"),
    ],
    run: async (signal, options, name) => (await import("./remote/tokens.ts")).createToken(name!, options, signal),
  });
  remote(tokens.command("delete"), "revoke a token", setStatus, {
    args: [["<id>", "the token's id"]],
    options: [ofUser()],
    run: async (signal, options, id) => (await import("./remote/tokens.ts")).deleteToken(id!, options, signal),
  });

  const projects = remote(program.command("projects"), "list projects", setStatus, {
    run: async (signal, options) => (await import("./remote/projects.ts")).listProjects(options, signal),
  });
  remote(projects.command("create"), "create a project", setStatus, {
    args: [["<name>", "its name"]],
    options: [
      new Option("--description <text>", "what it is for"),
      new Option("--slug <slug>", "its short name in addresses; default: from its name"),
      new Option("--tenant <tenant>", "name or id of its tenant; default: default"),
    ],
    run: async (signal, options, name) => (await import("./remote/projects.ts")).createProject(name!, options, signal),
  });
  remote(projects.command("rename"), "give a project another name", setStatus, {
    args: [PROJECT, ["<new name>", "its new name"]],
    options: [new Option("--slug <slug>", "its new short name in addresses; default: it stays")],
    run: async (signal, options, name, newName) =>
      (await import("./remote/projects.ts")).renameProject(name!, newName!, options, signal),
  });
  for (const [verb, archived] of [
    ["archive", true],
    ["restore", false],
  ] as const) {
    const about = archived ? "let a project take no new pipelines and runs" : "let an archived project work again";
    remote(projects.command(verb), about, setStatus, {
      args: [PROJECT],
      run: async (signal, options, name) =>
        (await import("./remote/projects.ts")).archiveProject(name!, archived, options, signal),
    });
  }
  remote(projects.command("delete"), "delete a project with everything in it", setStatus, {
    args: [PROJECT],
    options: [new Option("--force", "stop the runs that are live")],
    run: async (signal, options, name) => (await import("./remote/projects.ts")).deleteProject(name!, options, signal),
  });
  remote(projects.command("members"), "list who has a role in a project", setStatus, {
    args: [PROJECT],
    run: async (signal, options, name) => (await import("./remote/projects.ts")).listMembers(name!, options, signal),
  });
  remote(projects.command("grant"), "give a user, service account or team a role in a project", setStatus, {
    args: [
      PROJECT,
      ["<member>", "the name or id of a user or service account, or the id of a team"],
      ["<role>", ROLES.join(", ")],
    ],
    run: async (signal, options, name, member, role) =>
      (await import("./remote/projects.ts")).grant(name!, member!, role as (typeof ROLES)[number], options, signal),
  });
  remote(projects.command("revoke"), "take a role in a project away", setStatus, {
    args: [PROJECT, ["<member>", "as for grant"]],
    run: async (signal, options, name, member) =>
      (await import("./remote/projects.ts")).revoke(name!, member!, options, signal),
  });
}

const RUN = ["<run>", "its id, or a pipeline's name for its newest run"] as const;
const AGENT = ["<agent>", "name or id"] as const;
const PROJECT = ["<project>", "name, slug or id"] as const;
const ofUser = () => new Option("--user <user>", "of this user; default: your own");
const withLogs = () => new Option("--logs", "with --watch, show the lines of logs too");

function parsePriority(text: string): number {
  if (!/^(?:0|-?[1-9]\d{0,2})$/.test(text))
    throw new InvalidArgumentError("It must be a whole number from -100 to 100.");
  return Number(text);
}

function parseAround(text: string): string {
  if (!/^(?:\d|10)$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 0 to 10.");
  return text;
}
