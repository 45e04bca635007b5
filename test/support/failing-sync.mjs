/** Loaded before a program: once the file that FAIL_SYNC names exists, one `fdatasync` fails as on a bad disk. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { fdatasync } = fs;
let hasFailed = false;
fs.fdatasync = (descriptor, done) => {
  if (hasFailed || !fs.existsSync(process.env.FAIL_SYNC)) return fdatasync(descriptor, done);
  hasFailed = true;
  setImmediate(done, Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
};
syncBuiltinESMExports();
