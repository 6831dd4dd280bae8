import type { Auditor } from '@millrace/platform';
import { runAudits, someOfEach } from './run-audits';

const MOST = 1_000;

/** An auditor that finds so much, and says when it was ended. */
function auditor(name: string, count: number, ended: string[] = []): Auditor {
  return {
    name,
    async *findings() {
      try {
        for (let at = 0; at < count; at++)
          yield await Promise.resolve({ check: 'c', subject: String(at), detail: 'd' });
      } finally {
        ended.push(name);
      }
    },
  };
}

describe('a run of the audits', () => {
  it('shows what the last audit found although one before found more than is shown, and names the one that was cut', async () => {
    const ended: string[] = [];
    const all = [auditor('much', MOST + 1, ended), auditor('little', 1, ended), auditor('sound', 0, ended)];
    const { findings, truncatedAudits } = await runAudits(all, MOST);
    expect(findings.filter(({ audit }) => audit === 'much')).toHaveLength(MOST);
    expect(findings.at(-1)).toEqual({ audit: 'little', check: 'c', subject: '0', detail: 'd' });
    expect(truncatedAudits).toEqual(['much']);
    expect(ended).toEqual(['much', 'little', 'sound']);
  });

  it('names none as cut that found just as much as is shown', async () => {
    const { findings, truncatedAudits } = await runAudits([auditor('much', MOST)], MOST);
    expect([findings.length, truncatedAudits]).toEqual([MOST, []]);
  });
});

describe('findings that the audit log keeps', () => {
  it('are of every audit that found any', async () => {
    const { findings } = await runAudits([auditor('much', 50), auditor('little', 1), auditor('more', 2)], MOST);
    expect(someOfEach(findings, 6).map(({ audit, subject }) => audit + subject)).toEqual([
      'much0',
      'little0',
      'more0',
      'much1',
      'more1',
      'much2',
    ]);
  });
});
