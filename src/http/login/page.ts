/** Pages without scripts: their frame, their style, and the headers that keep a browser from loading anything else. */
import { createHash } from "node:crypto";
import type { Middleware } from "koa";
import type { AppContext } from "../../app/context.ts";
import { answerErrors } from "../errors.ts";
import type { ApiContext, RequestState } from "../request/state.ts";
import { Html, html } from "./html.ts";

const STYLE = [
  ":root{color-scheme:light dark}",
  "body{font:16px/1.5 system-ui,sans-serif;margin:0;padding:8vh 1rem 2rem;color:light-dark(#1c1e20,#e4e6e8);background:light-dark(#fafaf8,#131517)}",
  "main{max-width:24rem;margin:0 auto;padding:1.2rem 1.6rem 1.6rem;border:1px solid light-dark(#e3e3de,#2b2f34);border-radius:10px;background:light-dark(#fff,#1a1d20)}",
  ".brand{display:flex;align-items:center;gap:.5rem;max-width:24rem;margin:0 auto 1rem;font-size:1.15rem;font-weight:640}",
  ".brand svg{width:28px;height:28px;fill:none;stroke:light-dark(#14647f,#74c4df);stroke-width:2.2;stroke-linecap:round}",
  "h1{margin:.2rem 0 .6rem;font-size:1.4rem}a,summary{color:light-dark(#14647f,#74c4df)}details{margin-top:1.2rem}summary{cursor:pointer}",
  "label{display:block;margin:.8rem 0}input{display:block;width:100%;box-sizing:border-box;margin-top:.2rem}",
  "input,button,.button{padding:.45rem .7rem;border:1px solid light-dark(#8b8f93,#6b7278);border-radius:6px;font:inherit;color:inherit;background:light-dark(#fff,#131517)}",
  "button,.button{display:inline-block;margin:.6rem .6rem 0 0;padding:.45rem 1rem;text-decoration:none;cursor:pointer}",
  "form button:first-of-type{border-color:transparent;color:#fff;background:light-dark(#17708e,#25748f)}",
  ":focus-visible{outline:2px solid light-dark(#14647f,#74c4df);outline-offset:2px}",
  "[role=alert]{border-left:4px solid light-dark(#b42318,#ff8f86);padding-left:.8rem}code{font-size:1.2rem;letter-spacing:.1em}",
].join("");
/** No character of it needs an escape, and the policy names the hash of all that is between the tags. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);
/** The wheel of a mill above its race, as the web page has it. */
const MARK = new Html(
  '<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="9.5" r="6.5"/>' +
    '<path stroke-width="1.3" d="M12 3v13M5.5 9.5h13M7.4 4.9l9.2 9.2M16.6 4.9l-9.2 9.2"/>' +
    '<path d="M2 20.5c1.7-1.6 3.3-1.6 5 0s3.3 1.6 5 0 3.3-1.6 5 0 3.3 1.6 5 0"/></svg>',
);
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Default 200. */
  readonly status?: number;
  /** Where the browser goes on by itself. */
  readonly goOn?: string;
}

export function sendPage(ctx: ApiContext, { title, body, status = 200, goOn }: Page): void {
  ctx.status = status;
  ctx.set("Content-Security-Policy", POLICY);
  // With `no-referrer` a browser would name no origin when it sends a form, and the form would be refused.
  ctx.set("Referrer-Policy", "strict-origin");
  ctx.type = "html";
  const jump = goOn === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${goOn}" />`;
  ctx.body = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        ${jump}
        <title>${title} &middot; millrace</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <p class="brand">${MARK} millrace</p>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `.text;
}

/** What a form shows above its fields when it was refused. */
export function alert(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p role="alert">${message}</p>`;
}

/** Shows every error of a form as a page. */
export function showErrors(context: AppContext): Middleware<RequestState> {
  return answerErrors(context, (ctx, error, { code }) => {
    const body = html`${alert(error.message)}
      <p><a href="/login">To the login</a></p>`;
    sendPage(ctx, { title: "That did not work", body, status: code });
  });
}
