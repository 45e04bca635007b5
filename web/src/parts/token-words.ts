/** Messages about tokens of accounts. */

export const tokenWords = {
  title: "Tokens",
  make: "New token",
  made: "The new token",
  name: "Name",
  scope: "It may",
  scopes: {
    "": "do all that its account may",
    read: "read",
    trigger: "read, start runs and decide approvals",
    write: "write, except what administrators do",
    admin: "write, also what administrators do",
  },
  lasts: "Lasts",
  lifetimes: { "7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "a year" },
  create: "Create",
  shownOnce: "Copy the token now. It is shown only once.",
  lastUsed: "Last used",
  expires: "Expires",
  remove: "Delete",
  removeTitle: (name: string) => `Delete the token ${name}`,
  removeText: "Programs that use the token are refused from their next call on.",
  removed: "The token is deleted",
  may: (what: string) => `may ${what}`,
  mayAll: "may do all that its account may",
  never: "never",
} as const;
