/**
 * Completes package-lock.json. Run `node scripts/complete-lock.mjs` after each `npm install` that changes the file. npm
 * writes no entry for an optional package that the registry does not have, and then `npm ci` refuses the file on every
 * platform.
 *
 * Such a package is the native part of another package for one platform. The parent states its exact version, its name
 * states the platform, and its licence and engines are those of its siblings. Only the checksum stays unknown: npm then
 * installs what the registry has under that name and version. To get an entry with its checksum, remove the entry and
 * run `npm install` with a registry that has the package.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
/** Maps the words for processors in names of packages to the words of Node. */
const PROCESSORS = {
  aarch64: "arm64",
  arm: "arm",
  arm64: "arm64",
  armv7: "arm",
  ia32: "ia32",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  x64: "x64",
};
const LIBRARIES = { gnu: "glibc", musl: "musl" };

const lock = JSON.parse(readFileSync(FILE, "utf8"));
const added = {};
for (const [parent, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
  const siblings = Object.keys(optionalDependencies).map((name) => lock.packages[`node_modules/${name}`]);
  const known = siblings.find((entry) => entry?.os !== undefined);
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`;
    if (isThere(parent, name)) continue;
    if (known === undefined || !/^\d/.test(version))
      throw new Error(`${key}: the lock file has neither a sibling nor an exact version of it`);
    added[key] = { ...entryFor(name, version, known) };
  }
}
const root = lock.packages[""];
const rest = Object.entries({ ...lock.packages, ...added }).filter(([key]) => key !== "");
lock.packages = { "": root, ...Object.fromEntries(rest.toSorted(([a], [b]) => a.localeCompare(b, "en"))) };
writeFileSync(FILE, `${JSON.stringify(lock, undefined, 2)}\n`);
for (const [key, { version }] of Object.entries(added)) console.log(`added ${key} ${version}`);

/** True when npm finds an entry for `name` from the folder of the package that depends on it. */
function isThere(parent, name) {
  for (let folder = parent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    if (`${folder === "" ? "" : `${folder}/`}node_modules/${name}` in lock.packages) return true;
    if (folder === "") return false;
  }
}

function entryFor(name, version, { dev, engines, license }) {
  const words = name.slice(name.indexOf("/") + 1).split("-");
  const os = words.find((word) => SYSTEMS.includes(word));
  const cpu = words.map((word) => PROCESSORS[word]).find((processor) => processor !== undefined);
  if (os === undefined || cpu === undefined) throw new Error(`${name}: the name states no platform`);
  // The order of the keys is npm's. Packages for 32-bit ARM state no C library: `gnueabihf` is none of the words above.
  const libc =
    os === "linux" ? words.map((word) => LIBRARIES[word]).find((library) => library !== undefined) : undefined;
  return {
    version,
    cpu: [cpu],
    ...(dev === undefined ? {} : { dev }),
    ...(libc === undefined ? {} : { libc: [libc] }),
    license,
    optional: true,
    os: [os],
    ...(engines === undefined ? {} : { engines }),
  };
}
