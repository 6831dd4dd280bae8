import { render, type Manifest } from './support/helm';

const jobOf = (manifests: Manifest[]): Manifest | undefined =>
  manifests.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('-migrate'));
const hookOf = (manifests: Manifest[]): string | undefined => jobOf(manifests)?.metadata.annotations?.['helm.sh/hook'];
/** What the value set of a database of one's own says of migrations: nothing. */
const OWN_DATABASE = 'gateway';

describe('migrations', () => {
  it('run before everything else where the database is there already: an upgrade ends no worker before its successor can start', async () => {
    expect(hookOf(await render(OWN_DATABASE))).toBe('pre-install,pre-upgrade');
    expect(hookOf(await render('external'))).toBe('pre-install,pre-upgrade');
  });

  it('run beside the new pods where the database comes with them', async () => {
    const bundled = await render('minimal');
    expect(jobOf(bundled)).toBeDefined();
    expect(hookOf(bundled)).toBeUndefined();
  });

  it('run beside them also where that is asked for', async () => {
    expect(hookOf(await render(OWN_DATABASE, { migrations: { mode: 'job' } }))).toBeUndefined();
  });
});
