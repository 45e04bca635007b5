/** `millrace pipelines` with its commands: their arguments and options. */
import { type Command, Option } from "commander";
import { limit, listed, project, remote, type SetStatus } from "./remote-command.ts";

const REPORTED_WORDS = ["off", "run", "jobs"];

export function addPipelineCommands(program: Command, setStatus: SetStatus): void {
  const pipelines = remote(program.command("pipelines"), "list pipelines with their last runs", setStatus, {
    options: [project(), limit()],
    run: async (signal, options) => (await import("./remote/pipelines.ts")).listPipelines(options, signal),
  });
  remote(pipelines.command("create"), "create a pipeline", setStatus, {
    args: [["<name>", "its name"]],
    options: [
      project(),
      new Option("--description <text>", "what it is for"),
      new Option("--repo <url>", "the Git repository of its definition"),
      ...placeInGit(),
      new Option("--save-mode <mode>", "`pr`: saves are pull requests").choices(["direct", "pr"]),
      new Option("--target <branch>", "with `pr`, the branch that they are for; default: that of the definition"),
      new Option("--provider <provider>", "the software of the host, where its name does not say it").choices([
        "github",
        "gitlab",
        "gitea",
        "forgejo",
        "bitbucket",
      ]),
      new Option("--api-credential <secret>", "the name of the secret for the API of the host; default: --credential"),
      new Option("--commit-statuses <which>", "what is told to the host as commit statuses").choices(REPORTED_WORDS),
    ],
    run: async (signal, options, name) =>
      (await import("./remote/pipelines.ts")).createPipeline(name!, options, signal),
  });
  remote(pipelines.command("statuses"), "choose the commit statuses that runs of a pipeline set", setStatus, {
    args: [
      ["<pipeline>", "name or id"],
      ["<which>", "`off`, `run` (one for each run), `jobs` (also one for each job), or `default`"],
    ],
    options: [project()],
    run: async (signal, options, name, which) =>
      (await import("./remote/git-pipelines.ts")).chooseStatuses(name!, which!, options, signal),
  });
  remote(pipelines.command("save"), "check a definition, and make it the pipeline's newest", setStatus, {
    args: [
      ["<pipeline>", "name or id"],
      ["<file>", "the definition, YAML or JSON; - for standard input"],
    ],
    options: [
      project(),
      new Option("--message <text>", "what the change is about"),
      new Option("--format <format>", "the format of standard input").choices(["yaml", "json"]).default("yaml"),
      new Option("--head <commit>", "save only while the head is this commit or revision"),
      new Option("--save-mode <mode>", "for this save: `pr` opens a pull request").choices(["direct", "pr"]),
    ],
    run: async (signal, options, name, file) =>
      (await import("./remote/save-pipeline.ts")).savePipeline(name!, file!, options, signal),
  });
  remote(pipelines.command("show"), "print the text of the definition", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [project(), new Option("--ref <ref>", "of a definition in Git: at this branch, tag or commit")],
    run: async (signal, options, name) => (await import("./remote/pipelines.ts")).showPipeline(name!, options, signal),
  });
  remote(pipelines.command("move"), "move the definition into a Git repository, or out of it", setStatus, {
    args: [
      ["<pipeline>", "name or id"],
      ["<place>", "the URL of a repository, or `inline`"],
    ],
    options: [project(), ...placeInGit(), new Option("--message <text>", "what the commit or revision is about")],
    run: async (signal, options, name, place) =>
      (await import("./remote/git-pipelines.ts")).movePipeline(name!, place!, options, signal),
  });
  remote(pipelines.command("check"), "try the Git repository of a pipeline, and tell what is missing", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [project()],
    run: async (signal, options, name) =>
      (await import("./remote/git-pipelines.ts")).checkPipeline(name!, options, signal),
  });
  remote(pipelines.command("webhook"), "make or repair the webhook at the host of the repository", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [project(), new Option("--check", "tell what is wrong, and change nothing; exit status 1 for a problem")],
    run: async (signal, options, name) =>
      (await import("./remote/git-pipelines.ts")).connectWebhook(name!, options, signal),
  });
  remote(
    pipelines.command("discover"),
    "list the definitions of a Git repository, and make pipelines of them",
    setStatus,
    {
      args: [["<url>", "the URL of the repository"]],
      options: [
        project(),
        new Option("--branch <branch>", "the branch of the definitions; default: the repository's"),
        new Option("--credential <secret>", "the name of the project's secret that opens the repository"),
        listed("--connect <path>", "make a pipeline of this file; may be repeated"),
        new Option("--all", "make pipelines of all files that are valid definitions").conflicts(["connect"]),
      ],
      run: async (signal, options, url) => (await import("./remote/git-pipelines.ts")).discover(url!, options, signal),
    },
  );
  remote(pipelines.command("delete"), "delete a pipeline with its runs", setStatus, {
    args: [["<pipeline>", "name or id"]],
    options: [project(), new Option("--force", "stop its live runs")],
    run: async (signal, options, name) =>
      (await import("./remote/pipelines.ts")).deletePipeline(name!, options, signal),
  });
}

function placeInGit(): Option[] {
  return [
    new Option("--branch <branch>", "the branch of the definition; default: the repository's"),
    new Option("--path <path>", "the file of the definition; default: .millrace/pipeline.yaml"),
    new Option("--credential <secret>", "the name of the secret that opens the repository"),
  ];
}
