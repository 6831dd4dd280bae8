import fc from 'fast-check';
import { Refusal } from '@millrace/contracts';
import { listedJobs, readBatch } from './read-batch.step';

const node = { class_type: 'Show', inputs: {} };
const messageAt = (read: () => unknown): string => {
  try {
    read();
    return '';
  } catch (error) {
    return error instanceof Refusal ? `${error.status} ${error.message}` : String(error);
  }
};

describe('listed jobs', () => {
  it('are those that the first reading found, in any characters and spaces', () => {
    // Well-formed text: a body is UTF-8.
    const texts = fc.string({ unit: 'binary', maxLength: 12 });
    const space = fc.constantFrom('', ' ', '\n\t');
    const listed = fc.record({ titles: fc.array(texts, { minLength: 1, maxLength: 20 }), before: texts, space });
    fc.assert(
      fc.property(listed, ({ titles, before, space }) => {
        const items = titles.map((title) => JSON.stringify({ workflow: { '1': { ...node, _meta: { title } } } }));
        const body = Buffer.from(
          `{"note":${JSON.stringify(before)},"jobs":[${space}${items.join(`${space},${space}`)}]}`,
        );
        const { places, count, jobAt } = readBatch(body);
        if (places === null) throw new Error('no places were found');
        const later = listedJobs(body, places);
        expect([count, later.count]).toEqual([titles.length, titles.length]);
        for (const [index, item] of items.entries()) {
          expect([jobAt(index).graph.text, later.jobAt(index).graph.text]).toEqual([item, item]);
        }
      }),
    );
  });

  it('are refused one by one, with their places', () => {
    const body = Buffer.from(`{"jobs":[{"workflow":{"1":${JSON.stringify(node)}}},{"workflow":{},"é":!}]}`);
    const { places } = readBatch(body);
    const later = listedJobs(body, places as SharedArrayBuffer);
    expect(later.jobAt(0).graph.nodes.size).toBe(1);
    expect(messageAt(() => later.jobAt(1))).toMatch(/^400 .*Item 1 of jobs/);
  });
});
