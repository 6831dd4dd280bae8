import type { NodeCatalogue } from '@millrace/contracts';
import { examineSlice } from './examine-batch.step';
import { readBatch } from './read-batch.step';

const x = { type: '*', required: false, multiple: true };
const show = { displayName: '', category: '', description: '', outputs: [], outputNode: true, inputs: { x } };
const catalogue: NodeCatalogue = { Show: show };
const graphOf = (classType: string, value: unknown): object => ({
  '1': { class_type: classType, inputs: { x: value } },
});
const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));
const sliceOf = (body: object): ReturnType<typeof examineSlice> =>
  examineSlice(readBatch(Buffer.from(JSON.stringify(body))), catalogue, 0, 60_000);

describe('the bytes of a batch', () => {
  it('are those of the graphs that a table makes, refused ones too', () => {
    for (const [classType, refused] of [
      ['Show', 0],
      ['Hide', 2],
    ] as const) {
      const slice = sliceOf({ workflow: graphOf(classType, 0), table: { '1.x': ['é', 'longer'] } });
      expect(slice.faultCount).toBe(refused);
      expect(slice.graphBytes).toBe(bytesOf(graphOf(classType, 'é')) + bytesOf(graphOf(classType, 'longer')));
    }
  });

  it('are those of listed graphs, and of what is listed in the place of one', () => {
    const [good, bad] = [graphOf('Show', 'é'), { workflow: graphOf('Hide', 1), metadata: { a: 'b' } }];
    const slice = sliceOf({ jobs: [{ workflow: good }, bad, 7] });
    expect([slice.items.length, slice.faultCount]).toEqual([1, 2]);
    expect(slice.graphBytes).toBe(bytesOf(good) + bytesOf(bad) + 1);
  });
});
