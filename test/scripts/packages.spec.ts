import { isOfElsewhere } from '../../scripts/lib/setup/packages.mjs';

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
