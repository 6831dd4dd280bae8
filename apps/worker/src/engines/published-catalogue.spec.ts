import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { PublishedCatalogue } from './published-catalogue';

const node: NodeClass = { displayName: '', category: '', description: '', inputs: {}, outputs: [], outputNode: false };

function worker(...said: NodeCatalogue[]) {
  const published: NodeCatalogue[] = [];
  const warnings: unknown[] = [];
  const engines = said.map((_, index) => ({ catalogue: () => Promise.resolve(said[index] ?? {}) }));
  const publish = (catalogue: NodeCatalogue): Promise<string> => {
    published.push(catalogue);
    return Promise.resolve('digest');
  };
  const logger = { info: () => undefined, warn: (fields: unknown) => void warnings.push(fields) };
  return { said, published, warnings, catalogue: new PublishedCatalogue(engines, publish, logger) };
}

describe('what a worker publishes', () => {
  it('is what every one of its engines can run, and the log names the classes left out', async () => {
    const { catalogue, published, warnings } = worker({ both: node, first: node }, { both: node, last: node });
    await catalogue.refresh();
    expect(published).toEqual([{ both: node }]);
    expect(catalogue.current).toEqual({ both: node });
    expect(warnings).toEqual([{ classes: ['first', 'last'], count: 2 }]);
  });

  it('is published once while nothing changes, and again when the catalogue of an engine does', async () => {
    const { catalogue, published, said, warnings } = worker({ a: node }, { a: node });
    await catalogue.refresh();
    await catalogue.refresh();
    expect(published).toEqual([{ a: node }]);
    expect(warnings).toEqual([]);
    said[1] = { b: node };
    await catalogue.refresh();
    expect(published).toEqual([{ a: node }, {}]);
  });

  it('is sent once, however often the worker looks until it was taken', async () => {
    let sent = 0;
    let take: (digest: string) => void = () => undefined;
    const publish = (): Promise<string> => {
      sent += 1;
      return new Promise((resolve) => (take = resolve));
    };
    const quiet = { info: () => undefined, warn: () => undefined };
    const catalogue = new PublishedCatalogue([{ catalogue: () => Promise.resolve({ a: node }) }], publish, quiet);
    const looks = [catalogue.refresh(), catalogue.refresh()];
    await new Promise((resolve) => setImmediate(resolve));
    looks.push(catalogue.refresh());
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBe(1);
    take('digest');
    await Promise.all(looks);
    expect(catalogue.current).toEqual({ a: node });
  });

  it('stays what it was when it can not be published, and is tried again', async () => {
    let isAway = true;
    const sent: NodeCatalogue[] = [];
    const publish = (catalogue: NodeCatalogue): Promise<string> => {
      if (isAway) return Promise.reject(new Error('away'));
      sent.push(catalogue);
      return Promise.resolve('digest');
    };
    const quiet = { info: () => undefined, warn: () => undefined };
    const engine = { catalogue: () => Promise.resolve({ a: node }) };
    const catalogue = new PublishedCatalogue([{ catalogue: () => engine.catalogue() }], publish, quiet);
    await expect(catalogue.refresh()).rejects.toThrow('away');
    expect(catalogue.current).toEqual({});
    isAway = false;
    await catalogue.refresh();
    expect(sent).toEqual([{ a: node }]);
  });
});
