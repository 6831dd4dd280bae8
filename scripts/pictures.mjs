import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { readFlags, runCommand, say, task } from './lib/command/index.mjs';
import { Camera, OPERATOR_SCREENS, SCREENS, plant, plantRows } from './lib/pictures/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { startInBackground, withoutSettings } from './lib/stack/index.mjs';
import { HOME, makeFolder } from './lib/system/index.mjs';

const HELP = `npm run console:pictures [-- --out DIR]    a picture of every screen of both consoles, from a stack of its own with data in it

  --out DIR   where they go (.millrace/pictures)`;

/** Screens of one record: an account without any has none of them. */
const ONE_OF_MANY = ['job', 'batch', 'webhook'];

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { out: { type: 'string' } });
  const folder = flags.out ? resolve(process.env.INIT_CWD ?? process.cwd(), flags.out) : join(HOME, 'pictures');
  makeFolder(folder);
  await setUp(scope, withoutSettings(process.env));
  const { run } = await task(scope, 'Starting a stack', () => startInBackground(scope, { fleet: true }));
  const planted = await task(scope, 'Planting data', () => plant(scope, run));
  const camera = await Camera.open(scope, run, folder);
  await task(scope, 'Taking pictures', async () => {
    const [visitor, newcomer] = [await camera.visit(planted.account), await camera.visit(planted.empty)];
    const [jobs, job] = SCREENS;
    await camera.takeAll(SCREENS, visitor, planted);
    for (const screen of SCREENS.filter(({ name, reads }) => reads && !ONE_OF_MANY.includes(name))) {
      await camera.take(`${screen.name}-empty`, { ...screen, path: () => screen.route }, newcomer, planted);
    }
    if (job) await camera.take('job-failed', job, visitor, { ...planted, job: planted.failed });
    await camera.takeAll(OPERATOR_SCREENS, await camera.visitAsOperator(), planted);
    await plantRows(run, planted.job);
    if (jobs) await camera.take('jobs-1000', jobs, visitor, planted);
  });
  say(`${camera.taken} pictures are in ${relative(process.cwd(), folder)}.`);
}

await runCommand(main);
