import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATOR_SCREENS, SCREENS } from '../../scripts/lib/pictures/screens.mjs';

/** The paths of a console's router. */
function routesOf(router: string): string[] {
  const text = readFileSync(join(__dirname, '../../apps/console', router), 'utf8');
  const routes = text.matchAll(/^ *(?:const .*)?path: '([^']+)'|createRoute\(\{ getParentRoute, path: '([^']+)'/gm);
  return [...routes].map(([, own, short]) => own ?? short ?? '').sort();
}

describe('every screen has its pictures', () => {
  it("of the account's console, whose first page is another screen", () => {
    const routes = routesOf('src/router.tsx').filter((path) => path !== '/');
    expect(routes.length).toBeGreaterThan(5);
    expect(SCREENS.map(({ route }) => route).sort()).toEqual(routes);
  });

  it("of the operators' console", () => {
    const routes = routesOf('ops/src/router.tsx');
    expect(routes.length).toBeGreaterThan(5);
    expect(OPERATOR_SCREENS.map(({ route }) => route).sort()).toEqual(routes);
  });
});
