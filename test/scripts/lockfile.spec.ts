import { completeLockfile, missingPlatformPackages, unverifiedPackages } from '../../scripts/lib/setup/lockfile.mjs';

const compiler = { version: '2.1.0', dev: true, optionalDependencies: { '@c/core-linux-arm64-gnu': '2.1.0' } };

describe('a lock file', () => {
  it('lacks the platform packages that it names and has no entry for', () => {
    expect(missingPlatformPackages({ packages: { 'node_modules/@c/core': compiler } })).toEqual({
      'node_modules/@c/core-linux-arm64-gnu': {
        version: '2.1.0',
        cpu: ['arm64'],
        libc: ['glibc'],
        dev: true,
        optional: true,
        os: ['linux'],
      },
    });
  });

  it('finds a package beside the one that wants it, and in every place above', () => {
    const wanting = { version: '1.0.0', optionalDependencies: { 'b-win32-x64': '^1.2.0' } };
    const found = { version: '1.2.3', optional: true };
    for (const place of ['node_modules/a/node_modules/b/', 'node_modules/a/', '']) {
      const packages = {
        'node_modules/a/node_modules/b': wanting,
        [`${place}node_modules/b-win32-x64`]: found,
      };
      expect(missingPlatformPackages({ packages })).toEqual({});
    }
  });

  it('names each package that npm would install without comparing it with a hash', () => {
    const packages = {
      '': {},
      'libs/own': {},
      'node_modules/own': { link: true },
      'node_modules/hashed': { version: '1.0.0', integrity: 'sha512-x' },
      'node_modules/bare': { version: '1.0.0' },
      'node_modules/a/node_modules/bare': { version: '1.0.0', optional: true },
      'node_modules/x-linux-x64-gnu': { optional: true, os: ['linux'], cpu: ['x64'], libc: ['glibc'] },
      'node_modules/x-darwin-arm64': { optional: true, os: ['darwin'], cpu: ['arm64'] },
      'node_modules/x-linux-x64-musl': { optional: true, os: ['linux'], cpu: ['x64'], libc: ['musl'] },
    };
    const bare = ['node_modules/bare', 'node_modules/a/node_modules/bare', 'node_modules/x-linux-x64-gnu'];
    expect(unverifiedPackages({ packages })).toEqual(bare);
  });

  it('is complete once completed, in the order of names, with nothing else changed', () => {
    const lock = { name: 'x', packages: { '': {}, 'node_modules/z': {}, 'node_modules/@c/core': compiler } };
    const completed = completeLockfile(lock);
    expect(missingPlatformPackages(completed)).toEqual({});
    expect(Object.keys(completed.packages)).toEqual([
      '',
      'node_modules/@c/core',
      'node_modules/@c/core-linux-arm64-gnu',
      'node_modules/z',
    ]);
    expect(completed).toMatchObject(lock);
  });
});
