import type { FleetMember } from '../fleet';
import type { ContainerStatus, PodObject, PodSpec } from './objects';
import { memberOf } from './pod-member';

const NOW = new Date('2026-01-01T00:00:00Z');
const pod = (status: PodObject['status'], more: Partial<PodObject['metadata']> = {}): PodObject => ({
  metadata: { name: 'p', ...more },
  status,
});
const container = (more: Partial<ContainerStatus>): PodObject['status'] => ({
  phase: 'Running',
  containerStatuses: [{ name: 'worker', ...more }],
});
const unscheduled = (message: string): PodObject['status'] => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
});

describe('a pod as a member of its group', () => {
  it.each<[string, PodObject, string, string | null]>([
    ['runs', pod(container({ state: { running: {} } })), 'running', null],
    ['is being made', pod({ phase: 'Pending' }), 'starting', null],
    ['is asked to go', pod({ phase: 'Running' }, { deletionTimestamp: 'x' }), 'stopping', null],
    [
      'finds no GPU',
      pod(unscheduled('0/3 nodes are available: 1 Insufficient memory, 3 Insufficient nvidia.com/gpu.')),
      'starting',
      '0/3 nodes have the GPU',
    ],
    [
      'finds no node of its kind',
      pod(unscheduled("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.")),
      'starting',
      '0/3 nodes are of the kind that the class names',
    ],
    [
      'finds a quota of volumes',
      pod(unscheduled('0/1 nodes are available: 1 node(s) exceed max volume count.')),
      'starting',
      '0/1 nodes are available: 0/1 nodes are available: 1 node(s) exceed max volume count.',
    ],
    [
      'has no image',
      pod(container({ state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } })),
      'starting',
      'image cannot be pulled: not found',
    ],
    [
      'lacks a secret',
      pod(container({ state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "x" not found' } } })),
      'starting',
      'container cannot be created: secret "x" not found',
    ],
    [
      'crashes again and again',
      pod(
        container({
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1, message: '{"level":30,"msg":"x"}\nNo such engine.\n' } },
        }),
      ),
      'failed',
      'No such engine.',
    ],
    [
      'has just crashed without a message',
      pod(container({ state: { terminated: { exitCode: 3 } } })),
      'failed',
      'it ended with code 3',
    ],
    [
      'has too little memory',
      pod(container({ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } })),
      'failed',
      'it needs more memory than its class has',
    ],
    [
      'is evicted',
      pod({ phase: 'Failed', reason: 'Evicted', message: 'low on ephemeral-storage' }),
      'failed',
      'Evicted: low on ephemeral-storage',
    ],
    [
      'is taken away with its spot instance',
      pod({
        phase: 'Failed',
        reason: 'Terminated',
        message: 'Pod was terminated in response to imminent node shutdown.',
        conditions: [
          { type: 'PodScheduled', status: 'True' },
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'TerminationByKubelet',
            message: 'Pod was terminated in response to imminent node shutdown.',
          },
        ],
      }),
      'lost',
      'its node gave it up: Pod was terminated in response to imminent node shutdown.',
    ],
    [
      'is preempted by another one',
      pod({
        phase: 'Failed',
        conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }],
        containerStatuses: [{ name: 'worker', state: { terminated: { exitCode: 143 } } }],
      }),
      'lost',
      'its node gave it up: PreemptionByScheduler',
    ],
    ['is on a node that is gone', pod({ phase: 'Running', reason: 'NodeLost' }), 'lost', 'its node is gone'],
  ])('%s', (_what, given, phase, reason) => {
    expect(memberOf(given, 'r', NOW)).toMatchObject({ id: 'p', host: 'p', pid: null, revision: 'r', phase, reason });
  });

  describe('with an engine in a container beside its worker, which crashes', () => {
    const [before, start, after] = ['2025-12-31T23:00:00Z', '2025-12-31T23:01:00Z', '2025-12-31T23:09:00Z'];
    const killed = { exitCode: 137, reason: 'Error' };
    const backOff = { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: killed } };
    const crashed = (
      engine: Partial<ContainerStatus>,
      ready: { status: string; lastTransitionTime: string },
      worker: ContainerStatus['state'] = { running: { startedAt: start } },
    ): Pick<FleetMember, 'phase' | 'reason'> => {
      const status = container({ state: worker });
      const conditions = [{ type: 'Ready', ...ready }];
      return memberOf(
        pod({ ...status, conditions, initContainerStatuses: [{ name: 'comfyui', ...engine }] }),
        'r',
        NOW,
      );
    };
    const never = { status: 'False', lastTransitionTime: before };
    const once = { status: 'False', lastTransitionTime: after };

    it.each<[string, Partial<ContainerStatus>]>([
      ['for the first time', { state: { terminated: killed } }],
      ['again and again', backOff],
    ])('%s, has failed until its worker was ready, and goes on from then on', (_what, engine) => {
      expect(crashed(engine, never)).toMatchObject({ phase: 'failed', reason: 'it ended with code 137' });
      for (const ready of [once, { ...once, status: 'True' }])
        expect(crashed(engine, ready)).toMatchObject({
          phase: 'running',
          reason: 'comfyui is started again: it ended with code 137',
        });
    });

    it.each<[string, ContainerStatus['state']]>([
      ['has not run yet', { waiting: { reason: 'PodInitializing' } }],
      ['ends as well', { terminated: { exitCode: 3 } }],
    ])('has failed where its worker %s', (_what, worker) => {
      expect(crashed(backOff, once, worker)).toMatchObject({ phase: 'failed', reason: 'it ended with code 137' });
    });

    it.each([
      ['10s', 'running'],
      ['40s', 'running'],
      ['1m20s', 'failed'],
      ['5m0s', 'failed'],
    ])('after a pause of %s: starting it again in place has not helped once that is long', (pause, phase) => {
      const message = `back-off ${pause} restarting failed container=comfyui pod=p_default(1)`;
      const waiting = { reason: 'CrashLoopBackOff', message };
      expect(crashed({ ...backOff, state: { waiting } }, once)).toMatchObject({ phase });
    });

    it('runs as any other once the engine is up again', () => {
      const restarted = { state: { running: { startedAt: after } }, lastState: { terminated: killed } };
      expect(crashed(restarted, once)).toMatchObject({ phase: 'running', reason: null, startedAt: new Date(start) });
    });
  });

  it.each([
    ['3 Insufficient nvidia.com/gpu', true],
    ["1 Insufficient memory, 1 node(s) didn't match Pod's node affinity/selector, 1 Insufficient cpu", true],
    ['1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu', true],
    ["3 node(s) didn't match Pod's node affinity/selector", false],
    ['1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu', false],
    ['1 node(s) exceed max volume count', false],
  ])('lacks the room that another worker has, or something else: %s', (causes, isRoom) => {
    const since = '2025-12-31T23:00:00Z';
    const message = `0/3 nodes are available: ${causes}. preemption: 0/3 nodes are available: 3 No preemption victims found.`;
    const conditions = [{ type: 'PodScheduled', status: 'False', message, lastTransitionTime: since }];
    const { room } = memberOf(pod({ phase: 'Pending', conditions }), 'r', NOW);
    expect(room?.lackedSince).toEqual(isRoom ? new Date(since) : null);
  });

  it('needs what its pod asks of a node, and nothing else of it', () => {
    const needs = (image: string, spec: Partial<PodSpec> = {}, limits: Record<string, number> = { gpu: 1 }): unknown =>
      memberOf(
        { metadata: {}, spec: { containers: [{ name: 'worker', image, resources: { limits } }], ...spec } },
        'r',
        NOW,
      ).room?.needs;
    const volumes = [{ name: 'token', projected: {} }];
    expect(needs('a', { nodeName: 'n', volumes })).toBe(needs('b'));
    const others = [
      needs('a', {}, { gpu: 2 }),
      needs('a', { nodeSelector: { kind: 'large' } }),
      needs('a', { tolerations: [{ key: 'gpu' }] }),
      needs('a', { volumes: [{ name: 'models', persistentVolumeClaim: { claimName: 'c' } }] }),
    ];
    expect(new Set([needs('a'), ...others]).size).toBe(5);
  });

  it('has started when its first container runs; before, its time to start does not pass', () => {
    const at = '2025-12-31T23:00:00Z';
    expect(memberOf(pod(container({ state: { running: { startedAt: at } } })), 'r', NOW).startedAt).toEqual(
      new Date(at),
    );
    expect(memberOf(pod(unscheduled('')), 'r', NOW)).toMatchObject({ startedAt: NOW, reason: 'no node has room' });
  });
});
