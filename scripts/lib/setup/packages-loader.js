'use strict';
// Lies beside the bundles as `packages.js`, which they require: each package that they use, by its name, loaded at first use.
// Run as a program it compiles them once and keeps the compiled code for the processes.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { Script } = require('node:vm');

const SOURCE = path.join(__dirname, 'packages.bundle.js');
const COMPILED = path.join(__dirname, 'packages.compiled');

// What another V8 has compiled, or one with other flags, such as --max-old-space-size, is compiled again from the source.
const script = new Script(Module.wrap(readFileSync(SOURCE, 'utf8')), {
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
