import { settingsPage } from '../../scripts/lib/chart/settings-page.mjs';

describe('docs/settings.md', () => {
  const { text } = settingsPage();
  const sectionOf = (name: string): string =>
    text.split('\n## ').find((section) => section.startsWith(`\`${name}\``)) ?? '';

  it('has one entry for a setting that all processes read alike', () => {
    expect(sectionOf('MILLRACE_LEASE_SECONDS').match(/^Default: .*$/gm)).toEqual([
      'Default: `10`. Read by api, worker, maintenance, gateway.',
    ]);
  });

  it('has an entry for each process, when a setting means something else to it', () => {
    expect(sectionOf('MILLRACE_DRAIN_SECONDS').match(/^Default: .*$/gm)).toEqual([
      'Default: `10`. Read by api.',
      'Default: `20`. Read by worker.',
      'Default: `20`. Read by fleet.',
    ]);
  });
});
