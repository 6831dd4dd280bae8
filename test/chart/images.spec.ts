import { render, template } from './support/helm';
import { podsOf } from './support/parts';

const DIGEST = `sha256:${'1'.repeat(64)}`;

/** Images of every container of a set of values. */
async function imagesOf(set: string, over: object = {}): Promise<string[]> {
  const pods = podsOf(await render(set, over));
  const containers = pods.flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);
  return [...new Set(containers.map(({ image }) => image ?? ''))].sort();
}

describe('the images of the chart', () => {
  it('are all pinned where all have a digest', async () => {
    const images = await imagesOf('air-gapped');
    expect(images.filter((image) => !/^registry\.internal\/\S+:\S+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
    expect(images).toHaveLength(7);
  });

  it('go by their tags where they have none', async () => {
    expect((await imagesOf('minimal')).filter((image) => image.includes('@'))).toEqual([]);
  });

  it('are pinned one by one, ComfyUI too, and a digest replaces one that is in the name', async () => {
    const comfyui = { image: `registry.example.com/comfyui:1@sha256:${'2'.repeat(64)}`, digest: DIGEST };
    const own = await imagesOf('minimal', {
      workers: { default: { engine: 'comfyui', comfyui } },
      tests: { job: false },
    });
    expect(own).toContain(`registry.example.com/comfyui:1@${DIGEST}`);
  });

  it('of engine classes go to the fleet as they are given', async () => {
    const image = `registry.example.com/comfyui@${DIGEST}`;
    const { stdout } = await template('ha', {
      fleet: { engineClasses: [{ name: 'large', engine: 'comfyui', image }] },
    });
    expect(stdout).toContain(image);
  });
});
