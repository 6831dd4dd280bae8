import fc from 'fast-check';
import { ProgressSchema, type Progress } from '@millrace/contracts';
import type { ProgressPlan } from './progress-plan';
import { ProgressTracker } from './progress';

function planOf(nodes: Record<string, [classType: string, weight: number]>): ProgressPlan {
  const entries = Object.entries(nodes).map(([id, [classType, weight]]) => [id, { classType, weight }] as const);
  return { nodes: new Map(entries), totalWeight: entries.reduce((sum, [, { weight }]) => sum + weight, 0) };
}

const plan = planOf({
  load: ['Loader', 1],
  sample: ['KSampler', 21],
  decode: ['VAEDecode', 1],
  save: ['SaveImage', 1],
});

describe('progress', () => {
  it('before anything ran is nothing of everything', () => {
    expect(new ProgressTracker(plan).snapshot()).toEqual({
      value: 0,
      nodes_done: 0,
      nodes_total: 4,
      current_node: null,
      current_node_class: null,
      step: null,
      steps: null,
      message: null,
    });
  });

  it('counts nodes that need not run as done', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodesCached(['load', 'load', 'unknown']);
    expect(tracker.snapshot()).toMatchObject({ value: 1 / 24, nodes_done: 1 });
  });

  it('names the node that runs and says how far it is', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodeStarted('load');
    expect(tracker.snapshot()).toMatchObject({
      current_node: 'load',
      step: null,
      steps: null,
      message: 'Loader is running',
    });
    tracker.nodeFinished('load');
    tracker.nodeStarted('sample');
    tracker.nodeStep('sample', 3, 20);
    expect(tracker.snapshot()).toEqual({
      value: (1 + (3 / 20) * 21) / 24,
      nodes_done: 1,
      nodes_total: 4,
      current_node: 'sample',
      current_node_class: 'KSampler',
      step: 3,
      steps: 20,
      message: 'KSampler: step 3 of 20',
    });
  });

  it('shows how much of the models is staged, until they all are', () => {
    const tracker = new ProgressTracker(plan);
    tracker.staging({ staged_bytes: 3_100_000_000, total_bytes: 6_900_000_000 });
    const progress = tracker.snapshot();
    expect(progress).toMatchObject({
      value: 0,
      message: 'staging: 3.1 of 6.9 GB',
      staging: { staged_bytes: 3_100_000_000, total_bytes: 6_900_000_000 },
    });
    expect(ProgressSchema.parse(progress)).toEqual(progress);
    tracker.staging({ staged_bytes: 0, total_bytes: 20_000 });
    expect(tracker.snapshot().message).toBe('staging: 0.0 of 0.0 MB');
    tracker.staging(undefined);
    expect(tracker.snapshot()).not.toHaveProperty('staging');
    expect(tracker.snapshot().message).toBeNull();
  });

  it('of a node that starts over stays where it was, while its steps are shown as they are', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodeStep('sample', 20, 20);
    const before = tracker.snapshot().value;
    tracker.nodeStep('sample', 1, 20);
    expect(tracker.snapshot()).toMatchObject({ value: before, step: 1 });
  });

  it('of a node that runs again after it was done counts once', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodeFinished('sample');
    tracker.nodeStarted('sample');
    tracker.nodeStep('sample', 1, 20);
    expect(tracker.snapshot()).toMatchObject({ value: 21 / 24, nodes_done: 1, current_node: 'sample', step: 1 });
    tracker.nodeFinished('sample');
    tracker.nodeStep('sample', 2, 20);
    expect(tracker.snapshot()).toMatchObject({ value: 21 / 24, nodes_done: 1, current_node: null });
  });

  it('adds up several nodes that run at once and names the one that reported last', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodeStep('sample', 10, 20);
    tracker.nodeStep('decode', 1, 2);
    expect(tracker.snapshot()).toMatchObject({ value: 11 / 24, current_node: 'decode', step: 1, steps: 2 });
    tracker.nodeFinished('decode');
    expect(tracker.snapshot()).toMatchObject({ current_node: 'sample', step: 10, steps: 20 });
  });

  it('ignores nodes that are not of the plan, and steps that are no numbers', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodeStarted('1.0.0.3');
    tracker.nodeStep('1.0.0.3', 1, 2);
    tracker.nodeFinished('1.0.0.3');
    tracker.nodeStep('sample', NaN, 20);
    tracker.nodeStep('sample', 1, 0);
    tracker.nodeStep('sample', 1, Infinity);
    expect(tracker.snapshot()).toEqual(new ProgressTracker(plan).snapshot());
  });

  it('is whole when the run succeeded, for any reports before and after', () => {
    const tracker = new ProgressTracker(plan);
    tracker.nodeStarted('sample');
    tracker.finished();
    tracker.nodeStarted('load');
    tracker.nodeFinished('load');
    expect(tracker.snapshot()).toEqual({
      value: 1,
      nodes_done: 4,
      nodes_total: 4,
      current_node: null,
      current_node_class: null,
      step: null,
      steps: null,
      message: 'Finished',
    });
  });

  it('of a second attempt goes on from where the first one got to', () => {
    const tracker = new ProgressTracker(plan, 0.5);
    tracker.nodeFinished('load');
    expect(tracker.snapshot()).toMatchObject({ value: 0.5, nodes_done: 1 });
    tracker.nodeFinished('sample');
    expect(tracker.snapshot().value).toBe(22 / 24);
  });

  it.each([NaN, -1, 2, Infinity])('takes a floor of %p for one of 0 to 1', (floor) => {
    expect(ProgressSchema.safeParse(new ProgressTracker(plan, floor).snapshot()).success).toBe(true);
  });

  it('of a plan without nodes is nothing, then whole', () => {
    const tracker = new ProgressTracker(planOf({}));
    expect(tracker.snapshot()).toMatchObject({ value: 0, nodes_total: 0 });
    tracker.finished();
    expect(tracker.snapshot()).toMatchObject({ value: 1, nodes_done: 0, nodes_total: 0 });
  });
});

/** What the tracker must agree with: which nodes were ever done, and which of them is known to be running. */
interface Model {
  plan: ProgressPlan;
  done: Set<string>;
  running: Set<string>;
  isFinished: boolean;
  last: Progress;
}
type Command = fc.Command<Model, ProgressTracker>;

function command(name: string, act: (tracker: ProgressTracker) => void, learn: (model: Model) => void): Command {
  return {
    check: () => true,
    run: (model, tracker) => {
      act(tracker);
      if (!model.isFinished) learn(model);
      expectSound(tracker.snapshot(), model);
    },
    toString: () => name,
  };
}

function expectSound(progress: Progress, model: Model): void {
  const { plan: planned, last } = model;
  expect(ProgressSchema.parse(progress)).toEqual(progress);
  expect(progress.value).toBeGreaterThanOrEqual(last.value);
  expect(progress.nodes_total).toBe(planned.nodes.size);
  expect(progress.nodes_done).toBe(model.isFinished ? planned.nodes.size : model.done.size);
  expect(progress.nodes_done).toBeGreaterThanOrEqual(last.nodes_done);
  if (model.isFinished) expect(progress.value).toBe(1);
  const least = [...model.done].reduce((sum, id) => sum + (planned.nodes.get(id)?.weight ?? 0), 0);
  expect(progress.value).toBeGreaterThanOrEqual(least / Math.max(1, planned.totalWeight) - 1e-9);
  const { current_node: current, current_node_class: classType, step, steps } = progress;
  if (current === null || current === undefined) {
    expect([model.running.size, classType, step, steps]).toEqual([0, null, null, null]);
  } else {
    expect(model.running.has(current)).toBe(true);
    expect(classType).toBe(planned.nodes.get(current)?.classType);
    expect(step ?? 0).toBeLessThanOrEqual(steps ?? 0);
  }
  model.last = progress;
}

const anyId = fc.constantFrom('a', 'b', 'c', 'd', 'a.0.1', '');
const anyNumber = fc.oneof(fc.integer({ min: -2, max: 25 }), fc.double());

const started = anyId.map((id) =>
  command(
    `nodeStarted(${id})`,
    (tracker) => tracker.nodeStarted(id),
    (model) => model.plan.nodes.has(id) && model.running.add(id),
  ),
);
const stepped = fc.tuple(anyId, anyNumber, anyNumber).map(([id, step, steps]) =>
  command(
    `nodeStep(${id}, ${step}, ${steps})`,
    (tracker) => tracker.nodeStep(id, step, steps),
    (model) => {
      const counts = Number.isFinite(step) && Number.isFinite(steps) && steps > 0 && model.plan.nodes.has(id);
      if (counts && !model.done.has(id)) model.running.add(id);
    },
  ),
);
const finishedNode = (model: Model, id: string): void => {
  model.running.delete(id);
  if (model.plan.nodes.has(id)) model.done.add(id);
};
const nodeFinished = anyId.map((id) =>
  command(
    `nodeFinished(${id})`,
    (tracker) => tracker.nodeFinished(id),
    (model) => finishedNode(model, id),
  ),
);
const cached = fc.array(anyId).map((ids) =>
  command(
    `nodesCached(${ids.join()})`,
    (tracker) => tracker.nodesCached(ids),
    (model) => ids.forEach((id) => finishedNode(model, id)),
  ),
);
const finished = fc.constant(
  command(
    'finished()',
    (tracker) => tracker.finished(),
    (model) => {
      model.isFinished = true;
      model.running.clear();
    },
  ),
);

it('is a complete and sound snapshot that never goes back, for any reports of an engine in any order', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 4 });
  const mostly = [started, stepped, stepped, nodeFinished, cached];
  const commands = fc.commands([...mostly, ...mostly, finished], { maxCommands: 60 });
  fc.assert(
    fc.property(weights, fc.double({ noNaN: true, min: 0, max: 1 }), commands, (list, floor, run) => {
      const nodes = list.map((weight, at) => [['a', 'b', 'c', 'd'][at] ?? '', [`Class${at}`, weight]] as const);
      const anyPlan = planOf(Object.fromEntries(nodes) as Record<string, [string, number]>);
      fc.modelRun(() => {
        const real = new ProgressTracker(anyPlan, floor);
        const last = real.snapshot();
        expect(last.value).toBe(floor);
        const model: Model = { plan: anyPlan, done: new Set(), running: new Set(), isFinished: false, last };
        return { model, real };
      }, run);
    }),
    { numRuns: 500 },
  );
});
