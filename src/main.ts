#!/usr/bin/env node
/** The program `millrace`. */
import { runProgram } from "./cli/commands/program.ts";

// The exit is explicit, because an open handle must not keep a finished command alive.
process.exit(await runProgram(process.argv.slice(2)));
