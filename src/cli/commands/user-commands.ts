/** The commands on secrets, and on the users of a server. Their groups also hold commands that work on the machine of an installation. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { count, listed, project, remote, ROLES, type SetStatus, someOf } from "./remote-command.ts";

const REASONS = ["failure", "fixed", "success", "approval", "waiting"] as const;

export function addSecretCommands(secrets: Command, setStatus: SetStatus): void {
  const place = () => [project(), new Option("--pipeline <pipeline>", "of one pipeline; default: of the project")];
  remote(secrets, "list the names of secrets; values are never shown", setStatus, {
    options: place(),
    run: async (signal, options) => (await import("./remote/remote-secrets.ts")).listSecrets(options, signal),
  });
  remote(
    secrets.command("set"),
    "create or change a secret; its value is asked for or read from standard input",
    setStatus,
    {
      args: [["<name>", "as definitions name it"]],
      options: place(),
      run: async (signal, options, name) =>
        (await import("./remote/remote-secrets.ts")).setSecret(name!, options, signal),
    },
  );
  remote(
    secrets.command("set-github-app"),
    "create or change the secret of a GitHub App; its private key is read from standard input",
    setStatus,
    {
      args: [["<name>", "as pipelines name it"]],
      options: [
        new Option("--app <id>", "number or client id of the App").makeOptionMandatory(),
        new Option("--installation <id>", "number of the installation").makeOptionMandatory(),
        new Option("--host <host>", "where the App is; default: github.com"),
        ...place(),
      ],
      run: async (signal, options, name) =>
        (await import("./remote/remote-secrets.ts")).setGitHubApp(name!, options, signal),
    },
  );
  remote(secrets.command("delete"), "delete a secret", setStatus, {
    args: [["<name>", "the secret"]],
    options: place(),
    run: async (signal, options, name) =>
      (await import("./remote/remote-secrets.ts")).deleteSecret(name!, options, signal),
  });
}

export function addUserCommands(users: Command, setStatus: SetStatus): void {
  const user = ["<user>", "name or id"] as const;
  remote(users, "list users", setStatus, {
    run: async (signal, options) => (await import("./remote/remote-users.ts")).listUsers(options, signal),
  });
  remote(users.command("invite"), "create a user, and print a link with which the user chooses a password", setStatus, {
    args: [["<name>", "the user's name"]],
    options: [
      new Option("--role <role>", "in the whole installation").choices(ROLES),
      new Option("--in-tenant <tenant=role>", "a role in a tenant, by name or id; may be repeated")
        .argParser(roleIn)
        .default([]),
      new Option("--in-project <project=role>", "a role in a project, by name or id; may be repeated")
        .argParser(roleIn)
        .default([]),
      listed("--team <team>", "a team that the user joins, by name or id; may be repeated"),
      new Option("--email <address>", "the user's address"),
      count("--days <n>", "how long the link is good; default 7"),
    ],
    run: async (signal, options, name) => (await import("./remote/remote-users.ts")).inviteUser(name!, options, signal),
  });
  remote(users.command("renew"), "print a new link for a user who has not accepted the invitation", setStatus, {
    args: [user],
    options: [count("--days <n>", "how long the link is good; default 7")],
    run: async (signal, options, name) =>
      (await import("./remote/remote-users.ts")).renewInvitation(name!, options, signal),
  });
  remote(users.command("role"), "change a user's role in the installation", setStatus, {
    args: [user, ["<role>", `${ROLES.join(", ")}, or none`]],
    run: async (signal, options, name, role) => {
      const change = { role: role === "none" ? null : (role as (typeof ROLES)[number]) };
      return (await import("./remote/remote-users.ts")).changeUser(name!, change, options, signal);
    },
  });
  for (const [verb, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    const about = disabled ? "refuse a user's tokens and logins" : "let a disabled user in again";
    remote(users.command(verb), about, setStatus, {
      args: [user],
      run: async (signal, options, name) =>
        (await import("./remote/remote-users.ts")).changeUser(name!, { disabled }, options, signal),
    });
  }
  remote(users.command("reset"), "print a link with which a user sets a new password", setStatus, {
    args: [user],
    run: async (signal, options, name) => (await import("./remote/remote-users.ts")).resetUser(name!, options, signal),
  });
  remote(users.command("delete"), "delete a user", setStatus, {
    args: [user],
    run: async (signal, options, name) => (await import("./remote/remote-users.ts")).deleteUser(name!, options, signal),
  });
}

/** What the caller is told of by e-mail. */
export function addNotificationCommands(program: Command, setStatus: SetStatus): void {
  const place = () => project().default("default");
  const about = "list what you are told of by e-mail";
  const notifications = remote(program.command("notifications"), about, setStatus, {
    run: async (signal, options) => (await import("./remote/notifications.ts")).listChoices(options, signal),
  });
  remote(notifications.command("set"), "choose what you are told of the runs of a project", setStatus, {
    options: [
      place(),
      new Option("--on <reason>", `${REASONS.join(", ")}; may be repeated`)
        .argParser(someOf(REASONS))
        .makeOptionMandatory(),
      new Option("--runs <runs>", "of those that you trigger, or of all").choices(["mine", "all"]).default("mine"),
      new Option("--longer-than <duration>", "how long a wait has to last, for `--on waiting`: for example 30m"),
    ],
    run: async (signal, options) => (await import("./remote/notifications.ts")).setChoice(options, signal),
  });
  remote(notifications.command("delete"), "be told nothing more of the runs of a project", setStatus, {
    options: [place()],
    run: async (signal, options) => (await import("./remote/notifications.ts")).deleteChoice(options, signal),
  });
}

/** Reads a repeated `<place>=<role>`. */
function roleIn(value: string, values: readonly object[]): readonly object[] {
  const at = value.lastIndexOf("=");
  const role = value.slice(at + 1);
  if (at < 1 || !(ROLES as readonly string[]).includes(role)) {
    throw new InvalidArgumentError(`It must be NAME=ROLE, with one of the roles ${ROLES.join(", ")}.`);
  }
  return [...values, { place: value.slice(0, at), role }];
}
