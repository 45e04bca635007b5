/**
 * Closes the descriptors that a process got from the program that started it, and that its own children would get. Node
 * keeps only the lowest ones from its children: a lock file that a shell opened as descriptor 200 would reach every step.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";

const DESCRIPTORS = "/proc/self/fd";
const STDERR = 2;
/** The flag of a descriptor that no other program gets. Source: open(2), O_CLOEXEC, as /proc/<pid>/fdinfo shows it. */
const CLOSED_ON_EXEC = 0o2_000_000;

/** Leaves standard input, output and error. Without effect where the system does not list descriptors (macOS closes them itself). */
export function closeInheritedDescriptors(): void {
  for (const descriptor of descriptors()) {
    try {
      const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
      if (flags !== "" && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0) closeSync(descriptor);
    } catch {
      // The descriptor was that of the listing itself, which is closed by now.
    }
  }
}

function descriptors(): readonly number[] {
  try {
    return readdirSync(DESCRIPTORS)
      .map(Number)
      .filter((descriptor) => descriptor > STDERR);
  } catch {
    return [];
  }
}
