import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineClassOf, type EngineClass } from '@millrace/deployments';
import { createTestFolder } from '@millrace/testing';
import { describeFleet, type FleetUnderTest } from './fleet.conformance';
import { ProcessFleet } from './processes.fleet';

/** Stands in for a worker: lives until it is asked to end, or its parent has gone. */
const PROGRAM = `
if (process.env.MILLRACE_BROKEN) { process.stderr.write('The engine is not to be found.\\n'); process.exit(1); }
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
setInterval(() => undefined, 1000);
`;

function classWith(settings: Record<string, string>): EngineClass {
  return engineClassOf({
    name: 'cpu',
    engine: 'cpu',
    description: '',
    image: null,
    gpu: null,
    memory: null,
    nodeSelector: {},
    tolerations: [],
    startSeconds: 30,
    priceMicrosPerSecond: null,
    reach: [],
    nodePacks: [],
    settings,
  });
}

async function open(): Promise<FleetUnderTest> {
  const folder = await createTestFolder();
  const program = join(folder.path, 'worker.js');
  writeFileSync(program, PROGRAM);
  const fleet = new ProcessFleet({
    commandLine: [process.execPath, program],
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
    nextRevision: classWith({ MILLRACE_OTHER: 'x' }),
    brokenClass: classWith({ MILLRACE_BROKEN: '1' }),
    brokenReason: 'The engine is not to be found.',
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
