/** The commands of inbound hooks: their arguments and options. */
import { type Command, Option } from "commander";
import { count, limit, project, remote, type SetStatus } from "./remote-command.ts";

const KINDS = ["github", "gitlab", "gitea", "forgejo", "bitbucket", "generic"] as const;
const PROOFS = ["signature", "standard", "token", "none"] as const;
const STATES = ["arriving", "owed", "done", "failed"] as const;

export function addHookCommands(program: Command, setStatus: SetStatus): void {
  const hook = ["<hook>", "name or id"] as const;
  const delivery = ["<delivery>", "id"] as const;
  const hooks = remote(
    program.command("hooks"),
    "list the hooks of a project, which take events of senders",
    setStatus,
    {
      options: [project()],
      run: async (signal, options) => (await import("./remote/hooks.ts")).listHooks(options, signal),
    },
  );
  remote(hooks.command("create"), "create a hook, and print the path that its sender calls", setStatus, {
    args: [["<name>", "its name"]],
    options: [
      project(),
      new Option("--kind <kind>", "the sender").choices(KINDS).makeOptionMandatory(),
      ...changeable(),
    ],
    run: async (signal, options, name) => (await import("./remote/hooks.ts")).createHook(name!, options, signal),
  });
  remote(hooks.command("show"), "show a hook", setStatus, {
    args: [hook],
    options: [project()],
    run: async (signal, options, name) => (await import("./remote/hooks.ts")).showHook(name!, options, signal),
  });
  remote(hooks.command("update"), "change a hook", setStatus, {
    args: [hook],
    options: [
      project(),
      new Option("--name <name>", "another name"),
      ...changeable(),
      new Option("--enable", "take deliveries"),
      new Option("--disable", "refuse deliveries"),
    ],
    run: async (signal, options, name) => (await import("./remote/hooks.ts")).updateHook(name!, options, signal),
  });
  remote(hooks.command("delete"), "delete a hook with its deliveries", setStatus, {
    args: [hook],
    options: [project()],
    run: async (signal, options, name) => (await import("./remote/hooks.ts")).deleteHook(name!, options, signal),
  });
  remote(hooks.command("deliveries"), "list what a hook has received, the newest first", setStatus, {
    args: [hook],
    options: [project(), new Option("--state <state>", "only deliveries in this state").choices(STATES), limit()],
    run: async (signal, options, name) => (await import("./remote/hooks.ts")).listDeliveries(name!, options, signal),
  });
  remote(hooks.command("delivery"), "show a delivery with the verdict of each trigger", setStatus, {
    args: [hook, delivery],
    options: [project()],
    run: async (signal, options, name, id) =>
      (await import("./remote/hooks.ts")).showDelivery(name!, id!, options, signal),
  });
  remote(hooks.command("redeliver"), "judge the triggers again that a delivery has started no run of", setStatus, {
    args: [hook, delivery],
    options: [project()],
    run: async (signal, options, name, id) =>
      (await import("./remote/hooks.ts")).redeliver(name!, id!, options, signal),
  });
}

function changeable(): Option[] {
  return [
    new Option("--secret <secret>", "the name of the secret with which the sender signs"),
    new Option("--proof <proof>", "how a sender proves its deliveries; default: as its kind does").choices(PROOFS),
    count("--per-minute <count>", "how many deliveries it takes in a minute"),
  ];
}
