/** Copies texts for the reader. */
import { problemText } from "../api/errors.ts";
import { words } from "../words.ts";
import { tell } from "./toast.tsx";

/** Tells what has become of it, and never rejects. */
export async function copyText(text: string, done: string = words.actions.copied): Promise<void> {
  try {
    const { clipboard } = navigator as { readonly clipboard?: Clipboard };
    if (clipboard === undefined) copySelected(text);
    else await clipboard.writeText(text);
    tell(done);
  } catch (error) {
    tell(problemText(error), "failed");
  }
}

/** A page without TLS has no clipboard, except at an address of this machine. What is selected can be copied there, too. */
function copySelected(text: string): void {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "unseen";
  // Outside of an open dialog nothing can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error(words.actions.notCopied);
}
