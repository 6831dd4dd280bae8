import type { Command } from 'commander';
import { recordOf, recordsOf } from '../client';
import { EXIT, type ExitCode } from '../process';
import { age, plainLine, tableLines, type Palette, type Style } from '../terminal';
import type { Bind, CommandContext } from './command-context';

export function addStatus(program: Command, bind: Bind): void {
  program
    .command('status')
    .description('how the service does, and did; exit code 1 while it is disrupted')
    .action(bind(status));
}

async function status(context: CommandContext): Promise<ExitCode> {
  const { api } = await context.clients();
  const answer = recordOf(await api.json(api.platform('/status')));
  const { paint } = context.printer;
  const nowMs = context.host.nowMs();
  context.print(answer, ({ state, as_of: asOf, components }) => {
    const rows = recordsOf(components).map((component) => [
      String(component.name),
      { text: String(component.state), style: styleOf(String(component.state), paint) },
      { text: percent(component.last_day), align: 'right' as const },
      { text: percent(component.last_30_days), align: 'right' as const },
    ]);
    const own = plainLine(String(state));
    if (rows.length === 0) return [styleOf(own, paint)(own), 'This service keeps no figures, or cannot read them now.'];
    const time = plainLine(String(asOf));
    return [
      styleOf(own, paint)(own),
      ...tableLines([['', '', 'last 24 h', '30 days'].map(rightOf), ...rows]),
      paint.faint(`As of ${time}, ${age(time, nowMs)}.`),
    ];
  });
  return answer.state === 'disrupted' ? EXIT.failed : EXIT.succeeded;
}

function rightOf(text: string): { text: string; align: 'right' } {
  return { text, align: 'right' };
}

function styleOf(state: string, { good, warn, bad, faint }: Palette): Style {
  return { operational: good, degraded: warn, disrupted: bad }[state] ?? faint;
}

/** Rounded down: what was not all is never shown as all. */
function percent(share: unknown): string {
  return typeof share === 'number' ? `${(Math.floor(share * 10_000) / 100).toFixed(2)} %` : '–';
}
