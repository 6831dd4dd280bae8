import { programsOf } from '../../scripts/lib/setup/bundles.mjs';

const BUNDLES = [
  'api',
  'worker',
  'maintenance',
  'fleet',
  'gateway',
  'examination.thread',
  'process-entry',
  'thread-entry',
];

function manifestOf(changed: string | undefined, packages = 'packages'): Parameters<typeof programsOf>[0] {
  const bundleOf = (name: string): object => ({
    made: 'made',
    sources: [],
    packages: [],
    program: name === changed ? `${name}, changed` : name,
  });
  return { bundles: Object.fromEntries(BUNDLES.map((name) => [name, bundleOf(name)])), packages } as Parameters<
    typeof programsOf
  >[0];
}

describe('what a process runs', () => {
  const before = programsOf(manifestOf(undefined));
  const changedBy = (manifest: Parameters<typeof programsOf>[0]): string[] => {
    const after = programsOf(manifest);
    return Object.keys(after).filter((process) => after[process] !== before[process]);
  };

  it.each([
    ['api', ['api']],
    ['worker', ['worker', 'fleet']],
    ['maintenance', ['maintenance']],
    ['fleet', ['fleet']],
    ['gateway', ['gateway']],
    ['examination.thread', ['api']],
    ['process-entry', ['worker', 'fleet']],
    ['thread-entry', ['worker', 'fleet']],
  ])('is another program after a change of the bundle %s: that of %j alone', (bundle, processes) => {
    expect(changedBy(manifestOf(bundle))).toEqual(processes);
  });

  it('is another program for all after a change of the packages', () => {
    expect(changedBy(manifestOf(undefined, 'others'))).toEqual(['api', 'worker', 'maintenance', 'fleet', 'gateway']);
  });

  it('is the same program when nothing of it has changed', () => {
    expect(changedBy(manifestOf(undefined))).toEqual([]);
  });
});
