import fc from 'fast-check';
import { BATCH_COLUMNS, Refusal } from '@millrace/contracts';
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

describe('a table', () => {
  const tabled = (count: number): Buffer => {
    const names = Array.from({ length: count }, (_, at) => `x${at}`);
    const inputs = Object.fromEntries(names.map((name) => [name, 0]));
    const table = Object.fromEntries(names.map((name) => [`1.${name}`, [1]]));
    return Buffer.from(JSON.stringify({ workflow: { '1': { class_type: 'Show', inputs } }, table }));
  };
  const fieldsOf = (body: Buffer): unknown => {
    try {
      return readBatch(body).count;
    } catch (error) {
      return error instanceof Refusal ? [error.code, error.status, error.details?.fields] : error;
    }
  };

  it('has a limit of lists', () => {
    expect(fieldsOf(tabled(BATCH_COLUMNS))).toBe(1);
    const reason = `has ${BATCH_COLUMNS + 1} lists; at most ${BATCH_COLUMNS} are taken`;
    expect(fieldsOf(tabled(BATCH_COLUMNS + 1))).toEqual(['invalid_request', 422, [{ field: 'table', reason }]]);
  });

  it('with a name that is too long is refused under what an answer shows of it', () => {
    const body = { workflow: { '1': node }, table: { [`${'.'.repeat(16_000)}a`]: [1] } };
    const reason = 'is longer than the id of a node and the name of an input may be: 513 characters';
    const field = `table.${'.'.repeat(80)}…`;
    expect(fieldsOf(Buffer.from(JSON.stringify(body)))).toEqual(['invalid_request', 422, [{ field, reason }]]);
  });
});
