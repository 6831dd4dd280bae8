import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { NodeSearch } from './node-search';

/** A class that counts how often its description is read. */
function classOf(more: Partial<NodeClass>, reads: { count: number }): NodeClass {
  const nodeClass: NodeClass = {
    displayName: '',
    category: '',
    description: '',
    inputs: {},
    outputs: [],
    outputNode: false,
    ...more,
  };
  const { description } = nodeClass;
  return Object.defineProperty(nodeClass, 'description', {
    get: () => {
      reads.count += 1;
      return description;
    },
  });
}

describe('a search of node classes', () => {
  const reads = { count: 0 };
  const catalogue: NodeCatalogue = {
    ZoomImage: classOf({ description: 'Makes it larger.' }, reads),
    Blur: classOf({ outputs: [{ type: 'IMAGE,MASK', name: '', list: false }] }, reads),
    Image: classOf({ category: 'loaders' }, reads),
    Sound: classOf({ description: 'For images with sound.', category: 'audio' }, reads),
  };
  const search = new NodeSearch();
  const namesOf = async (query: string, account = 'a'): Promise<string[]> =>
    (await search.find(account, catalogue, query)).map(({ name }) => name);

  it('has the best first: a name, a part of one, a type, a text', async () => {
    expect(await namesOf('IMAGE')).toEqual(['Image', 'ZoomImage', 'Blur', 'Sound']);
  });

  it('finds what has every word, and without words all by name', async () => {
    expect(await namesOf('image audio')).toEqual(['Sound']);
    expect(await namesOf('mask larger')).toEqual([]);
    expect(await namesOf(' ')).toEqual(['Blur', 'Image', 'Sound', 'ZoomImage']);
  });

  it('reads a catalogue once', async () => {
    await namesOf('image');
    const { count } = reads;
    await Promise.all(['a', 'a', 'b'].map((account) => namesOf('larger', account)));
    expect([count, reads.count]).toEqual([4, 4]);
  });
});
