/** Runs the program without the rights of root, because root may open every file. */
import { runProgram } from "../../src/cli/commands/program.ts";

const UNPRIVILEGED_ID = 65_534;

if (process.getuid!() === 0) {
  process.setgroups!([]);
  process.setgid!(UNPRIVILEGED_ID);
  process.setuid!(UNPRIVILEGED_ID);
}
process.exitCode = await runProgram(process.argv.slice(2));
