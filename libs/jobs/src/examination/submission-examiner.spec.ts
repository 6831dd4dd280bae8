import { COMFYUI_RUN_LIMITS, Refusal, type NodeCatalogue } from '@millrace/contracts';
import type { Target } from '@millrace/deployments';
import { limitRuns } from '@millrace/workflow';
import type { ItemFault } from './item-fault';
import { SubmissionExaminer, type ExaminerLimits } from './submission-examiner';

const common = { displayName: '', category: '', description: '', outputs: [], outputNode: true };
const x = { type: '*', required: false, multiple: true };
const catalogue: NodeCatalogue = { Show: { ...common, inputs: { x } } };
const target = (): Promise<Target> =>
  Promise.resolve({ poolId: 'p', catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: 0n });
const bodyOf = (workflow: string): Buffer => Buffer.from(`{"workflow":${workflow},"metadata":{"a":"b"}}`);
const node = (inputs: string, classType = 'Show'): string => `{"class_type":"${classType}","inputs":{"x":${inputs}}}`;
/** Larger than what is examined at once. */
const long = JSON.stringify('v'.repeat(40_000));

const examiners: SubmissionExaminer[] = [];
function examinerOf(limits: Partial<ExaminerLimits> = {}): SubmissionExaminer {
  const examiner = new SubmissionExaminer({ threads: 1, ...limits });
  examiners.push(examiner);
  return examiner;
}
afterAll(() => Promise.all(examiners.map((examiner) => examiner.close())));

const refusalOf = async (examined: Promise<unknown>): Promise<Refusal> => {
  const error: unknown = await examined.catch((thrown: unknown) => thrown);
  if (error instanceof Refusal) return error;
  throw error;
};

describe('a submission', () => {
  const examiner = examinerOf();

  it('is the same whether it is examined at once or in a thread', async () => {
    const workflow = `{"1":${node('[18446744073709551615, 1.0, "\\u00e4ö"]')},"2":${node(long)}}`;
    const inline = examinerOf({ inlineBytes: 1_000_000 });
    const aside = await examiner.examine(bodyOf(workflow), target);
    expect(aside.job.workflow).toBe(workflow);
    expect(aside).toEqual(await inline.examine(bodyOf(workflow), target));
  });

  it.each([
    ['is no JSON', Buffer.from(`{${long}`), { code: 'invalid_request', status: 400 }],
    ['is no UTF-8', Buffer.alloc(40_000, 0xff), { code: 'invalid_request', status: 400 }],
    ['is in the format of the editor', bodyOf(`{"nodes":[],"links":[${long}]}`), { code: 'workflow_format_ui' }],
    [
      'names a class that is not there',
      bodyOf(`{"1":${node(long, 'Hide')}}`),
      { code: 'invalid_workflow', status: 422 },
    ],
  ])('that %s is refused from a thread as it is at once', async (_what, body, refusal) => {
    const inline = examinerOf({ inlineBytes: 1_000_000 });
    const refused = await refusalOf(examiner.examine(Buffer.from(body), target));
    expect(refused).toMatchObject(refusal);
    const { code, message, details, status } = await refusalOf(inline.examine(body, target));
    expect(refused).toMatchObject({ code, message, details, status });
  });

  it('of more nodes than its engine runs at once is refused from a thread as it is at once', async () => {
    const limited = structuredClone(catalogue);
    limitRuns(limited, COMFYUI_RUN_LIMITS);
    const there = async (): Promise<Target> => ({ ...(await target()), catalogue: limited });
    const nodes = (count: number): string => Array.from({ length: count }, (_, at) => `"${at}":${node('1')}`).join();
    const inline = examinerOf({ inlineBytes: 1_000_000 });
    for (const examined of [examiner, inline]) {
      const refused = await refusalOf(examined.examine(bodyOf(`{"l":${node(long)},${nodes(300)}}`), there));
      expect([refused.code, refused.message]).toEqual(['invalid_workflow', expect.stringMatching(/301 nodes; .* 300/)]);
      expect((await examined.examine(bodyOf(`{"l":${node(long)},${nodes(299)}}`), there)).job.nodeCount).toBe(300);
      expect((await examined.examine(bodyOf(`{"l":${node(long)},${nodes(300)}}`), target)).job.nodeCount).toBe(301);
    }
  });

  it('that is large is refused for its body before its target', async () => {
    const stopped = (): Promise<never> => Promise.reject(new Refusal('deployment_stopped', 'It is stopped.'));
    expect(await refusalOf(examiner.examine(Buffer.from(`{${long}`), stopped))).toMatchObject({
      code: 'invalid_request',
    });
    expect(await refusalOf(examiner.examine(bodyOf(`{"1":${node(long)}}`), stopped))).toMatchObject({
      code: 'deployment_stopped',
    });
  });

  it('of 300,000 malformed references under a long id is refused with little detail', async () => {
    const references = Array<string>(300_000).fill('{"__type":"core/ASSET"}').join();
    const refused = await refusalOf(
      examiner.examine(bodyOf(`{"${'n'.repeat(5_300)}":${node(`[${references}]`)}}`), target),
    );
    expect(refused).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(Buffer.byteLength(JSON.stringify(refused.details ?? {}))).toBeLessThan(10_000);
  });

  it('of as many malformed references as may be in a body names some and counts all', async () => {
    const references = Array<string>(45_000).fill('{"__type":"core/ASSET"}').join();
    const { job } = await examiner.examine(bodyOf(`{"1":${node(`[${references}]`)}}`), target);
    expect([job.assets.malformed.length, job.assets.malformedCount]).toEqual([1_000, 45_000]);
  });

  const id = (at: number): string => `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`;
  const reference = (at: number): string => `{"__type":"core/ASSET","info":{"id":"${id(at)}"}}`;
  /** @param meta stands beside the inputs. */
  const withMeta = (meta: string, inputs: string): Buffer =>
    bodyOf(`{"1":{"_meta":${meta},"class_type":"Show","inputs":{"x":${inputs}}}}`);

  it('names the assets of its inputs, and apart from them those that stand only elsewhere', async () => {
    const { job } = await examiner.examine(withMeta(`[${reference(1)},${reference(2)}]`, reference(1)), target);
    expect(job.assets.named).toEqual([{ node_id: '1', field: 'x', asset_id: id(1) }]);
    expect(job.assets.mentioned).toEqual([{ node_id: '1', field: '_meta', asset_id: id(2) }]);
  });

  it('that refers to thousands of assets is refused, wherever it does', async () => {
    const many = Array.from({ length: 1_001 }, (_, at) => reference(at));
    const none = '[]';
    const [half, rest] = [many.slice(500), many.slice(0, 500)].map((list) => `[${list.join()}]`) as [string, string];
    for (const body of [withMeta(none, `[${many.join()}]`), withMeta(`[${many.join()}]`, none), withMeta(half, rest)]) {
      expect(await refusalOf(examiner.examine(body, target))).toMatchObject({
        code: 'invalid_workflow',
        details: { node_errors: { '': [{ reason: 'above_max' }] } },
      });
    }
  });
});

describe('a graph with a fault and models that no list has', () => {
  const model = { type: 'COMBO', required: true, options: [], libraryModels: true };
  const steps = { type: 'INT', required: false, min: '1' };
  const loading: NodeCatalogue = { Load: { ...common, inputs: { model, steps, pad: { ...x } } } };
  const there = async (): Promise<Target> => ({ ...(await target()), catalogue: loading });
  const load = (inputs: object): object => ({ class_type: 'Load', inputs });
  const graph = { b: load({ model: 'lacking.gguf', steps: 0 }), a: load({ model: 'mine.gguf' }) };
  const library = jest.fn(() => Promise.resolve(new Set(['mine.gguf'])));
  const examiner = examinerOf();
  beforeEach(() => library.mockClear());

  it.each([
    ['at once', {}],
    ['in a thread', { c: load({ model: 'mine.gguf', pad: 'v'.repeat(40_000) }) }],
  ])('is refused for both, examined %s', async (_where, more) => {
    const body = bodyOf(JSON.stringify({ ...graph, ...more }));
    const refused = await refusalOf(examiner.examine(body, there, { library }));
    expect(refused.details).toEqual({
      node_errors: {
        b: [
          expect.objectContaining({
            field: 'model',
            reason: 'not_in_list',
            message: expect.stringMatching(/library/) as unknown,
          }),
          expect.objectContaining({ field: 'steps', reason: 'below_min' }),
        ],
      },
    });
    expect(library.mock.calls).toEqual([[['lacking.gguf', 'mine.gguf']]]);
  });

  it('does not have the library asked where it names no such model', async () => {
    const body = bodyOf(JSON.stringify({ a: load({ model: 'no model', steps: 0 }) }));
    expect(await refusalOf(examiner.examine(body, there, { library }))).toMatchObject({ code: 'invalid_workflow' });
    expect(library).not.toHaveBeenCalled();
  });

  it('is refused for both as a job of a batch, in the order of the jobs', async () => {
    const unknown = { a: { class_type: 'Hide', inputs: {} } };
    // An answer lists no details of it, because they are long.
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`m${at}`, load({ model: 'mine.gguf' })]));
    const jobs = [
      { workflow: graph },
      { workflow: unknown },
      { workflow: { ...many, last: load({ steps: 0, model: 'mine.gguf' }) } },
    ];
    const faults: ItemFault[] = [];
    await examiner.examineBatch(
      Buffer.from(JSON.stringify({ jobs })),
      await there(),
      (slice) => {
        faults.push(...slice.faults);
        return true;
      },
      library,
    );
    expect(faults).toMatchObject([
      { index: 0, details: { node_errors: { b: [{ reason: 'not_in_list' }, { reason: 'below_min' }] } } },
      { index: 1, details: { node_errors: { a: [{ reason: 'unknown_node_class' }] } } },
      {
        index: 2,
        details: null,
        message: expect.stringMatching(/^The workflow cannot be run\. Node last: [^.]*\.$/) as unknown,
      },
    ]);
    expect(library.mock.calls.flat(2)).toEqual(['lacking.gguf', 'mine.gguf']);
  });
});

describe('a thread', () => {
  it('that runs out of memory ends alone: its request is refused, and the next is examined', async () => {
    const examiner = examinerOf({ heapMib: 24 });
    const values = bodyOf(
      `{"1":${node(
        `[${Array<string>(48_000)
          .fill(`{"k":"${'é'.repeat(60)}"}`)
          .join()}]`,
      )}}`,
    );
    expect(await refusalOf(examiner.examine(values, target))).toMatchObject({ code: 'payload_too_large', status: 413 });
    expect((await examiner.examine(bodyOf(`{"1":${node(long)}}`), target)).job.nodeCount).toBe(1);
  });

  it('for which too many wait is not waited for: 429 and a time to wait', async () => {
    const examiner = examinerOf({ waiting: 1 });
    const body = (): Buffer => bodyOf(`{"1":${node(long)}}`);
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => examiner.examine(body(), target)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const reason of refused) {
      expect(reason).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 2 });
    }
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it.each([
    ['is examined', target],
    ['is refused', (): Promise<never> => Promise.reject(new Error('gone'))],
  ])('that worked says for how long, and what the bytes cost elsewhere, also where its body %s', async (_what, of) => {
    const examiner = examinerOf();
    const beganAt = performance.now();
    let spentMs = 0;
    const spend = (ms: number): void => void (spentMs += ms);
    const body = bodyOf(`{"1":${node(long)}}`);
    const elsewhereMs = (24 * body.byteLength) / 1_048_576;
    await examiner.examine(body, of, { spend }).catch(() => undefined);
    expect(spentMs).toBeGreaterThan(elsewhereMs);
    expect(spentMs).toBeLessThanOrEqual(elsewhereMs + performance.now() - beganAt);
  });

  it('that did not come to a body in time has spent nothing on it', async () => {
    const examiner = examinerOf({ timeoutMs: 1 });
    const spend = jest.fn();
    const examined = examiner.examine(bodyOf(`{"1":${node(long)}}`), target, { spend });
    expect(await refusalOf(examined)).toMatchObject({ code: 'rate_limited' });
    expect(spend).not.toHaveBeenCalled();
  });

  it('that takes too long is ended', async () => {
    const examiner = examinerOf({ timeoutMs: 1 });
    expect(await refusalOf(examiner.examine(bodyOf(`{"1":${node(long)}}`), target))).toMatchObject({
      code: 'rate_limited',
    });
  });
});
