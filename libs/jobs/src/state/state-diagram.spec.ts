import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateDiagram } from './state-diagram';

const PAGE = join(__dirname, '../../../../docs/reliability.md');

describe('the state diagram of docs/reliability.md', () => {
  it('is the one of the table of transitions', () => {
    const [, shown] = /```mermaid\n([^`]*)\n```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
    expect(shown).toBe(stateDiagram());
  });

  it('names only tests that are there', () => {
    const page = readFileSync(PAGE, 'utf8');
    const files = [...page.matchAll(/`((?:libs|apps|test)\/[^`]*spec\.ts)`/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect(() => readFileSync(join(__dirname, '../../../..', file))).not.toThrow();
  });
});
