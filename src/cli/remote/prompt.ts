/** Secrets that a user types or a program sends on standard input. They never stand on the command line, where `ps` shows them. */
import { createInterface } from "node:readline";
import { UsageError } from "../command-line.ts";

const MAX_BYTES = 64 * 1_024;

/** One secret: typed without an echo on a terminal, else all of standard input without its last line feed. */
export async function readSecret(question: string): Promise<string> {
  const secret = process.stdin.isTTY ? await readHidden(question) : await readInput();
  if (secret === "") throw new UsageError(`${question}: nothing was given; type it, or send it on standard input`);
  return secret;
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new UsageError(`standard input has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

function readHidden(question: string): Promise<string> {
  process.stderr.write(`${question}: `);
  // `readline` echoes what is typed to its output; this one has none.
  const lines = createInterface({ input: process.stdin, terminal: true });
  return new Promise((resolve, reject) => {
    let typed: string | undefined;
    lines.once("SIGINT", () => {
      lines.close();
      process.kill(process.pid, "SIGINT");
    });
    lines.once("line", (line) => {
      typed = line;
      lines.close();
    });
    lines.once("close", () => {
      process.stderr.write("\n");
      if (typed === undefined) reject(new UsageError(`${question}: nothing was typed`));
      else resolve(typed);
    });
  });
}
