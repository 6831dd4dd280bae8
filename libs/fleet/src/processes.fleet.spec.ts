import { join } from 'node:path';
import { createTestFolder } from '@millrace/testing';
import { STUB_COMPLAINT, classWith, stubWorker } from './fixtures/stub-worker';
import { describeFleet, type FleetUnderTest } from './fleet.conformance';
import { ProcessFleet } from './processes.fleet';

async function open(): Promise<FleetUnderTest> {
  const folder = await createTestFolder();
  const fleet = new ProcessFleet({
    commandLine: stubWorker(folder),
    env: { PATH: process.env.PATH },
    logFolder: join(folder.path, 'logs'),
    workFolder: join(folder.path, 'work'),
    stopMs: 10_000,
  });
  const isAlive = (pid: number | null): boolean => {
    try {
      return pid !== null && process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  return {
    fleet,
    engineClass: classWith({}),
    nextRevision: classWith({ settings: { MILLRACE_OTHER: 'x' } }),
    brokenClass: classWith({ settings: { MILLRACE_BROKEN: '1' } }),
    brokenReason: STUB_COMPLAINT,
    countRunning: async (poolId) => {
      const group = (await fleet.observe()).find((one) => one.poolId === poolId);
      return group?.members.filter(({ pid }) => isAlive(pid)).length ?? 0;
    },
    crash: async ({ pid }) => void process.kill(pid ?? -1, 'SIGKILL'),
    close: async () => {
      await fleet.resign();
      await folder.drop();
    },
  };
}

describeFleet('of processes', open);
