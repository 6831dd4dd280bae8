import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCREENS } from '../../scripts/lib/pictures/screens.mjs';

it('every screen of the console has its pictures', () => {
  const router = readFileSync(join(__dirname, '../../apps/console/src/router.tsx'), 'utf8');
  const routes = [
    ...router.matchAll(/^ *(?:const .*)?path: '([^']+)'|createRoute\(\{ getParentRoute, path: '([^']+)'/gm),
  ];
  const screens = routes.map(([, own, short]) => own ?? short ?? '').filter((path) => path !== '/');
  expect(screens.length).toBeGreaterThan(5);
  expect(SCREENS.map(({ route }) => route).sort()).toEqual(screens.sort());
});
