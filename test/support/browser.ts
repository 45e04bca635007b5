/** A browser as far as the forms need one: cookies, links, forms, and the origin that a browser names. */

export interface PageSeen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where the answer sends the browser, as it is written; null without a redirect. */
  readonly location: string | null;
}

export class TestBrowser {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();
  /** Set for requests of a page of another site. */
  from: string;

  constructor(origin: string) {
    this.#origin = origin;
    this.from = origin;
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name);
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  forget(): void {
    this.#cookies.clear();
  }

  get(path: string, headers: Record<string, string> = {}): Promise<PageSeen> {
    return this.#send("GET", path, undefined, headers);
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<PageSeen> {
    return this.#send("POST", path, new URLSearchParams(fields).toString(), { origin: this.from, ...headers });
  }

  async #send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<PageSeen> {
    const url = new URL(path, this.#origin);
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        ...(cookie === "" ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const set of answer.headers.getSetCookie()) this.#keep(set);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, location: answer.headers.get("location") };
  }

  #keep(set: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
    if (value === "" || /max-age=0\b/i.test(set)) this.#cookies.delete(name!);
    else this.#cookies.set(name!, value!);
  }
}
