/** Messages about how agents come in. */

export const registrationWords = {
  title: "Registration tokens",
  add: "Add an agent",
  addText: "An agent registers with a token at its first start. Jobs of all projects may run on it.",
  name: "Name of the token",
  nameHint: "What the agents are for, such as “build machines”.",
  uses: "Agents that may register",
  usesHint: "Empty for any number.",
  badUses: "The number of agents is no whole number",
  lasts: "They may register for",
  lifetimes: { "1d": "a day", "7d": "7 days", "90d": "90 days", "": "ever" },
  labels: "Labels",
  labelsHint: "One a line, such as pool=production. The agents cannot change them.",
  badLabel: (line: string) => `“${line}” is no key=value`,
  create: "Make the token",
  made: "Start the agent",
  startText: "Run this on the machine of the agent:",
  command: (token: string, host: string) =>
    `MILLRACE_REGISTRATION_TOKEN=${token} millrace agent --gateway ${host}:9090`,
  gatewayText: "The address is that of your gateway: change it when the gateway listens at another one.",
  shownOnce: "Copy the token now. It is shown only once, and the agent appears here as soon as it has registered.",
  used: "Registered",
  usedOf: (uses: number, most: number | null) => (most === null ? `${uses}` : `${uses} of ${most}`),
  removeText: "No further agent registers with it. Agents that have registered stay.",
  removed: "The token is deleted",
} as const;
