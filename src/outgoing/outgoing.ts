/** Everything by which others are told. */
import type { MailSender } from "./mail.ts";
import type { SendRequest } from "./requests.ts";

export interface Outgoing {
  readonly request: SendRequest;
  /** Null for an installation that sends no e-mail. */
  readonly mail: MailSender | null;
}
