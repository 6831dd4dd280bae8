import { Cluster } from './support/cluster';

let cluster: Cluster;
beforeEach(async () => {
  cluster = await Cluster.open();
});
afterEach(() => cluster.close());

function secrets(): Record<string, Record<string, string>> {
  return Object.fromEntries(
    cluster.list('Secret').map(({ metadata, data }) => [metadata.name, data as Record<string, string>]),
  );
}

describe('the Secrets that the chart makes', () => {
  it('are made once: an upgrade keeps what the namespace has', async () => {
    await cluster.upgrade('minimal');
    const first = structuredClone(secrets());
    expect(Object.keys(first).length).toBeGreaterThanOrEqual(3);
    await cluster.upgrade('minimal');
    expect(secrets()).toEqual(first);
  });

  it('differ from one installation to the other', async () => {
    await cluster.upgrade('minimal');
    const first = secrets();
    const other = await Cluster.open();
    [cluster] = [other, await cluster.close()];
    await cluster.upgrade('minimal');
    expect(Object.keys(secrets()).sort()).toEqual(Object.keys(first).sort());
    for (const [name, data] of Object.entries(secrets())) expect(data).not.toEqual(first[name]);
  });

  it('get what they lack, and keep the rest', async () => {
    await cluster.upgrade('minimal');
    const before = structuredClone(secrets());
    const name = Object.keys(before).find((one) => before[one]?.['admin-token'] !== undefined) ?? '';
    cluster.forget(name, 'admin-token');
    await cluster.upgrade('minimal');
    const { 'admin-token': token, ...rest } = secrets()[name] ?? {};
    expect(before[name]).toMatchObject(rest);
    expect(Buffer.from(token ?? '', 'base64').toString()).toMatch(/^\w{48}$/);
    expect(token).not.toBe(before[name]?.['admin-token']);
  });

  it('outlive the release: what they protect does, too', async () => {
    await cluster.upgrade('minimal');
    const before = structuredClone(secrets());
    await cluster.uninstall();
    expect(cluster.list('Deployment')).toEqual([]);
    expect(secrets()).toEqual(before);
    await cluster.upgrade('minimal');
    expect(secrets()).toEqual(before);
  });
});
