/** The commands on the plugins that a server has registered. Their group also holds those that make and push packages. */
import { type Command, Option } from "commander";
import { limit, remote, type SetStatus } from "./remote-command.ts";

export function addPluginCommands(plugin: Command, setStatus: SetStatus): void {
  remote(
    plugin.command("push"),
    "check a plugin and register it; a version that is registered cannot be changed",
    setStatus,
    {
      args: [["<folder>", "the folder with the plugin.yaml"]],
      options: [
        new Option(
          "--server <url>",
          "this control plane in place of a context; needs a token in MILLRACE_TOKEN",
        ).conflicts("context"),
        new Option("--project <project>", "for the pipelines of this project alone, by name or id"),
        new Option(
          "--tenant <tenant>",
          "for the projects of this tenant alone, by name or id; default: for the installation",
        ),
      ],
      run: async (signal, options, folder) => (await import("./plugin.ts")).pushPlugin(folder!, options, signal),
    },
  );
  const owner = () => [
    new Option("--project <project>", "of this project, by name or id"),
    new Option("--tenant <tenant>", "of this tenant, by name or id; default: of the installation"),
  ];
  remote(plugin.command("list"), "list registered plugins", setStatus, {
    options: [
      ...owner(),
      new Option("--inherited", "with --project, also those of its tenant and of the installation that it can use"),
      new Option("--name <text>", "only those with this text in their name"),
      limit(),
    ],
    run: async (signal, options) => (await import("./remote/plugins.ts")).listPlugins(options, signal),
  });
  remote(plugin.command("show"), "show a registered plugin with its versions", setStatus, {
    args: [["<name>", "its name, for example util/json-patch"]],
    options: owner(),
    run: async (signal, options, name) => (await import("./remote/plugins.ts")).showPlugin(name!, options, signal),
  });
  remote(plugin.command("delete"), "delete a version of a plugin; steps of runs that wait for it fail", setStatus, {
    args: [["<name@version>", "the plugin with the whole version, for example util/json-patch@1.2.0"]],
    options: owner(),
    run: async (signal, options, named) => (await import("./remote/plugins.ts")).deletePlugin(named!, options, signal),
  });
}
