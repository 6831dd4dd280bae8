/**
 * Lets a worker thread run from TypeScript source, for tests: a thread has neither jest's transform nor its module map.
 * Compiled code starts the compiled entry of the thread and never comes here.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const ROOT = path.resolve(__dirname, '../..');
const { $schema: _schema, sourceMaps: _maps, ...options } = JSON.parse(readFileSync(path.join(ROOT, '.swcrc'), 'utf8'));
delete options.jsc.paths;
delete options.jsc.baseUrl;

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const lib = /^@millrace\/([a-z-]+)$/.exec(request)?.[1];
  return resolve.call(this, lib ? path.join(ROOT, 'libs', lib, 'src/index.ts') : request, ...rest);
};

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    ...options,
    swcrc: false,
    filename,
    sourceMaps: 'inline',
  });
  module._compile(code, filename);
};
