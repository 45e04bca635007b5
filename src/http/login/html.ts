/** HTML of the forms. Every value that a page shows is escaped here, in one place. */

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that is HTML already. {@link html} makes it, and constants of this project may be it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Shown = string | number | Html | readonly Html[] | undefined;

/** HTML from a template. Values are escaped, except for HTML that this function has made; undefined shows nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return new Html(parts.map((part, at) => part + render(values[at])).join(""));
}

function render(value: Shown): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return `${value}`.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}
