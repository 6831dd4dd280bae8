import fc from 'fast-check';
import { DEPLOYMENT_STATES } from '@millrace/contracts';
import { deploymentState, isIdle, type DeploymentFacts } from './deployment-state';

const running: DeploymentFacts = {
  desiredState: 'running',
  minWorkers: 0,
  ownerSuspended: false,
  everServed: false,
  readyWorkers: 0,
  wentInOrder: false,
};

const anyFacts: fc.Arbitrary<DeploymentFacts> = fc.record({
  desiredState: fc.constantFrom('running', 'stopped'),
  minWorkers: fc.nat(3),
  ownerSuspended: fc.boolean(),
  everServed: fc.boolean(),
  readyWorkers: fc.nat(3),
  wentInOrder: fc.boolean(),
});

describe('the state of a deployment', () => {
  it.each<[string, Partial<DeploymentFacts>, string]>([
    ['provisioning until a worker has come', {}, 'provisioning'],
    ['starting when a worker has come and none is ready', { everServed: true }, 'starting'],
    ['ready with a ready worker', { everServed: true, readyWorkers: 1 }, 'ready'],
    ['ready when it was scaled to nothing in order', { everServed: true, wentInOrder: true }, 'ready'],
    ['starting when it is never to be without', { everServed: true, wentInOrder: true, minWorkers: 1 }, 'starting'],
    [
      'ready when its account was suspended, which keeps no workers, and they went in order',
      { everServed: true, wentInOrder: true, minWorkers: 1, ownerSuspended: true },
      'ready',
    ],
    ['stopped when its operator wants that, with any workers', { desiredState: 'stopped', readyWorkers: 2 }, 'stopped'],
  ])('is %s', (_, facts, state) => expect(deploymentState({ ...running, ...facts })).toBe(state));

  it('is one of the four, stopped exactly when its operator wants that', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(DEPLOYMENT_STATES).toContain(deploymentState(facts));
        expect(deploymentState(facts) === 'stopped').toBe(facts.desiredState === 'stopped');
      }),
    );
  });

  it('is ready with a worker, or idle, never both', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const ready = deploymentState(facts) === 'ready';
        const byWorkers = facts.desiredState === 'running' && facts.readyWorkers > 0;
        expect(ready).toBe(byWorkers !== isIdle(facts));
      }),
    );
  });

  it('never goes back to provisioning once a worker has come', () => {
    fc.assert(
      fc.property(anyFacts, (facts) =>
        expect(deploymentState({ ...facts, everServed: true })).not.toBe('provisioning'),
      ),
    );
  });
});
