import { isOfElsewhere, wereLeftOut } from '../../scripts/lib/setup/packages.mjs';

const DEBIAN = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const optional = { version: '1.0.0', optional: true };

/** npm 11.6 lists optional packages that it left out: what takes them for missing installs everything again. */
describe('a package that is listed as installed and is not there', () => {
  it.each([
    ['another system', { ...optional, os: ['darwin'], cpu: ['x64'] }],
    ['another processor', { ...optional, os: ['linux'], cpu: ['arm64'] }],
    ['another C library', { ...optional, os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
  ])('was left out when it is for %s', (_, entry) => {
    expect(isOfElsewhere(entry, DEBIAN)).toBe(true);
  });

  it.each([
    ['for this machine', { ...optional, os: ['linux'], cpu: ['x64'], libc: ['glibc'] }],
    ['for any machine', optional],
    ['for all but one system', { ...optional, os: ['!win32'] }],
    ['not optional', { version: '1.0.0', os: ['darwin'] }],
  ])('is missing when it is %s', (_, entry) => {
    expect(isOfElsewhere(entry, DEBIAN)).toBe(false);
  });
});

describe('what is not there', () => {
  const lock = {
    '': { dependencies: { tool: '1' } },
    'node_modules/tool': { optionalDependencies: { 'tool-wasm': '1', 'tool-musl': '1' } },
    'node_modules/tool-wasm': { ...optional, cpu: ['wasm32'], dependencies: { runtime: '1' } },
    'node_modules/tool-musl': { ...optional, os: ['linux'], cpu: ['x64'], libc: ['musl'] },
    'node_modules/runtime': optional,
  };

  it('was left out when only what was left out needs it, and when it is for another C library', () => {
    const absent = ['node_modules/tool-wasm', 'node_modules/tool-musl', 'node_modules/runtime'];
    expect(wereLeftOut(absent, lock, DEBIAN)).toBe(true);
  });

  it('is missing when something that is there needs it', () => {
    const needed = { ...lock, 'node_modules/other': { dependencies: { runtime: '1' } } };
    const absent = ['node_modules/tool-wasm', 'node_modules/runtime'];
    expect(wereLeftOut(absent, needed, DEBIAN)).toBe(false);
    expect(wereLeftOut(['node_modules/tool'], lock, DEBIAN)).toBe(false);
  });
});
