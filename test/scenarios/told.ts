/** The receivers of what the runs of a scenario tell. */
import type { Outgoing } from "../../src/outgoing/outgoing.ts";

/** Notes what is sent; every receiver takes it. */
export function toldInto(told: string[]): Outgoing {
  return {
    request({ url, body }) {
      const { text, type } = JSON.parse(body) as { readonly text?: string; readonly type?: string };
      told.push(`${new URL(url).pathname} ${text?.split("\n", 1)[0] ?? type}`);
      return Promise.resolve({ status: 200, text: "ok" });
    },
    mail: {
      host: "mail.example",
      send({ to, subject }) {
        told.push(`${to} ${subject}`);
        return Promise.resolve({ status: 250, text: "ok" });
      },
      close: () => {},
    },
  };
}
