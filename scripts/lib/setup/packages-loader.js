'use strict';
// Lies beside the bundles as `packages.js`, which they require: each package that they use, by its name, loaded at first use.
// Run as a program it compiles them once and keeps the compiled code for the processes.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

const SOURCE = path.join(__dirname, 'packages.bundle.js');
const COMPILED = path.join(__dirname, 'packages.compiled');

// V8 refuses what was compiled under other flags. A heap limit, given on the command line or in NODE_OPTIONS, has done its work
// when this runs, so it need not count as one.
setFlagsFromString('--max-old-space-size=0');
// What another V8 has compiled is compiled again from the source. That is ASCII: one byte for each character, not two, is read,
// and kept.
const script = new Script(readFileSync(SOURCE, 'latin1'), {
  filename: SOURCE,
  cachedData: existsSync(COMPILED) ? readFileSync(COMPILED) : undefined,
});
/** @typedef {(exports: object, require: NodeJS.Require, module: { exports: object }, filename: string, dirname: string) => void} Load */
/** @type {unknown} */
const load = script.runInThisContext();
/** @type {Load} */ (load)(module.exports, require, module, SOURCE, __dirname);

if (require.main === module) {
  // A getter loads its package. What runs while a package loads is compiled, and kept.
  Object.values(module.exports);
  writeFileSync(COMPILED, script.createCachedData());
}
