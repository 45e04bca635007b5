/**
 * Markdown as HTML that a page may show as it is: no HTML of the writer passes, links lead to `http`, `https` and `mailto`
 * only, and nothing is loaded from elsewhere: an image becomes a link.
 */
import type Markdown from "markdown-it";

/** Deeper lists and quotes are left out. */
const MAX_NESTING = 40;
/** The page behind a link must not reach the page that shows the summary. */
const LINK_REL: [string, string] = ["rel", "noopener noreferrer nofollow"];
const LINK = /^(https?:\/\/|mailto:)/i;

type Renderer = InstanceType<typeof Markdown>;

let renderer: Promise<Renderer> | undefined;

export async function renderMarkdown(markdown: string): Promise<string> {
  renderer ??= makeRenderer();
  return (await renderer).render(markdown);
}

/** The library is loaded on demand: a node may never show a summary. */
async function makeRenderer(): Promise<Renderer> {
  const { default: Made } = await import("markdown-it");
  const made = new Made({ html: false, linkify: false, maxNesting: MAX_NESTING });
  made.validateLink = (url) => LINK.test(url.trim());
  made.renderer.rules["link_open"] = (tokens, at, options, _, self) => {
    tokens[at]!.attrSet(...LINK_REL);
    return self.renderToken(tokens, at, options);
  };
  made.renderer.rules["image"] = (tokens, at, options, env, self) => {
    const image = tokens[at]!;
    image.attrs = [["href", image.attrGet("src") ?? ""], LINK_REL];
    image.content ||= "image";
    return `<a${self.renderAttrs(image)}>${made.renderer.rules["text"]!(tokens, at, options, env, self)}</a>`;
  };
  return made;
}
