/** Messages about what a user is told of by e-mail. */

export const choiceWords = {
  title: "E-mail about runs",
  add: "Tell me about a project",
  change: "Change",
  remove: "Delete",
  saved: "Your choice is saved",
  noEmail: "Your account has no e-mail address, to which you could have messages about runs sent.",
  setEmail: "Set one among the users",
  askForEmail: "Ask an administrator to set one.",
  none: (email: string) => `Nothing is sent to ${email}. Choose a project and what you want to be told.`,
  to: (email: string) => `Sent to ${email}.`,
  project: "Project",
  which: "Of which runs",
  runs: { mine: "Runs that I have started", all: "All runs" },
  on: "Told of",
  reasons: {
    failure: "A run has failed",
    fixed: "A run has succeeded after a failed one",
    success: "A run has succeeded",
    approval: "A run asks for an approval",
    waiting: "A run waits for long",
  },
  short: { failure: "failure", fixed: "fixed", success: "success", approval: "approval", waiting: "waiting" },
  longerThan: "Waits longer than",
  longerThanHint: "Such as 30m, for a run that waits for long.",
  nothingChosen: "Choose at least one thing to be told of",
} as const;
