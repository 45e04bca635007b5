/** The program without the rights of root, to whom every file is open. */
import { runProgram } from "../../src/cli/commands/program.ts";

const NOBODY = 65_534;

if (process.getuid!() === 0) {
  process.setgroups!([]);
  process.setgid!(NOBODY);
  process.setuid!(NOBODY);
}
process.exitCode = await runProgram(process.argv.slice(2));
