import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import type { Target } from '@millrace/deployments';
import { SubmissionExaminer } from './submission-examiner';

/** Milliseconds of the event loop that one body of 7 MB may take: its examination in place takes seconds. */
const BOUND_MS = 500;

const x = { type: '*', required: false, multiple: true };
const show = { displayName: '', category: '', description: '', outputs: [], outputNode: true, inputs: { x } };
const catalogue: NodeCatalogue = { Show: show };
const target = (): Promise<Target> =>
  Promise.resolve({ poolId: 'p', catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: 0n });
const bodyOf = (id: string, input: string): Buffer =>
  Buffer.from(`{"workflow":{"${id}":{"class_type":"Show","inputs":{"x":${input}}}}}`);

const examiner = new SubmissionExaminer({ threads: 1 });
afterAll(() => examiner.close());

it('a submission of 300,000 malformed references under a long id is examined beside the event loop', async () => {
  const body = bodyOf('n'.repeat(5_300), `[${Array<string>(300_000).fill('{"__type":"core/ASSET"}').join()}]`);
  expect(body.byteLength).toBeGreaterThan(6_900_000);
  await examiner.examine(bodyOf('1', JSON.stringify('v'.repeat(40_000))), target);
  const before = performance.eventLoopUtilization();
  await expect(examiner.examine(body, target)).rejects.toBeInstanceOf(Refusal);
  expect(performance.eventLoopUtilization(before).active).toBeLessThan(BOUND_MS);
});
