import { assertMachine } from '../../scripts/lib/cluster/needs.mjs';
import { Scope } from '../../scripts/lib/command/scope.mjs';

const lacking = (...names: string[]) => ({
  platform: 'linux',
  arch: 'x64',
  uid: 0,
  has: (name: string) => !names.includes(name),
});
const check = (machine: ReturnType<typeof lacking>, whole = true): Promise<void> =>
  assertMachine(new Scope(), { whole, install: false }, machine);

describe('the test on a real cluster', () => {
  it('runs where everything is there', async () => {
    await expect(check(lacking())).resolves.toBeUndefined();
  });

  it.each([
    ['Linux', { ...lacking(), platform: 'darwin' }, 'is run on Linux on x64; this is darwin'],
    ['root', { ...lacking(), uid: 1000 }, 'needs root'],
    ['Go', lacking('go'), 'Go was not found'],
    [
      'packages',
      lacking('containerd', 'ctr', 'conntrack', '/usr/lib/cni/bridge'),
      'apt-get install --no-install-recommends containerd conntrack containernetworking-plugins»',
    ],
  ])('says that it lacks %s, and how to have it', async (_what, machine, sentence) => {
    await expect(check(machine)).rejects.toThrow(sentence);
  });

  it('asks for no containers where only the API server runs', async () => {
    await expect(check(lacking('containerd', 'buildah'), false)).resolves.toBeUndefined();
    await expect(check(lacking('etcd'), false)).rejects.toThrow('etcd-server');
  });
});
