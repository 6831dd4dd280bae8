import type { Estimate } from '@millrace/contracts';
import type { Command } from 'commander';
import { progressView } from '../follow';
import type { GraphText } from '../graph';
import { EXIT, type ExitCode, ServiceRefusal } from '../process';
import { count, credits, duration, failureLines, type Palette, plainLine, tableLines } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { guardFor } from './interrupt-option';
import { graphFlags, reuseOption, spendLimitOption } from './run.command';
import { type GraphFlags, submissionOf } from './submit-graph';

export function addEstimate(program: Command, bind: Bind): void {
  graphFlags(program.command('estimate'))
    .addOption(reuseOption())
    .addOption(spendLimitOption())
    .description(
      'what a graph would cost, and how long it would run and wait; submits nothing, but uploads what --input names',
    )
    .action(bind(estimate));
}

/** @returns `refused` when the submission would be refused. */
async function estimate(
  context: CommandContext,
  path: string,
  flags: GraphFlags & { reuse?: string; spendLimit?: number },
): Promise<ExitCode> {
  const { host, printer } = context;
  const clients = await context.clients();
  const view = progressView(host);
  const guard = guardFor(context, clients, view, 'detach');
  try {
    const note = (line: string): void => view.note(line);
    const prepare = (): Promise<void> => Promise.resolve();
    const interrupted = 'Interrupted; nothing was estimated.';
    const tools = { host, clients, guard, paint: printer.paintNote, note, prepare, interrupted };
    return await guard.guarding(async () => {
      const { body, graph } = await submissionOf(path, flags, tools);
      const { reuse, spendLimit: spendLimitMicros } = flags;
      const found = await clients.jobs.estimate(body, { reuse, spendLimitMicros }, guard.signal);
      context.print(found, (shown) => estimateLines(shown, graph, printer.paint));
      return found.accepted ? EXIT.succeeded : EXIT.refused;
    });
  } finally {
    view.close();
  }
}

function estimateLines(found: Estimate, graph: GraphText, paint: Palette): string[] {
  const facts = factsOf(found).map(([name, value]) => [{ text: name, style: paint.faint }, value]);
  return [...verdictLines(found.error, graph, paint), ...tableLines(facts)];
}

function verdictLines(error: Estimate['error'], graph: GraphText, paint: Palette): string[] {
  if (error === null) return [`${paint.good('✓')} It would be accepted.`];
  const refusal = new ServiceRefusal(`It would be refused: ${error.message}`, {
    code: error.code,
    details: error.details ?? undefined,
  });
  refusal.nodeClasses = graph.classes();
  return failureLines(refusal, paint);
}

function factsOf({ run_ms: run, cost_micros: cost, ...found }: Estimate): [string, string][] {
  const facts: [string, string][] = [];
  if (found.reuse !== null) facts.push(['reuse', reuseFact(found.reuse)]);
  if (typeof found.reuse?.job_id === 'string') return facts;
  if (run === null) {
    if (found.accepted) facts.push(['run', 'not known: no earlier job of this kind has succeeded here']);
  } else {
    const from = count(found.known_runs, 'earlier run');
    facts.push(['run', `${duration(run.p50)}; 9 in 10 at most ${duration(run.p90)} (${from})`]);
  }
  if (cost !== null && cost.p90 > 0) {
    facts.push(['cost', `${credits(cost.p50)} credits; 9 in 10 at most ${credits(cost.p90)}`]);
  }
  if (found.hold_micros !== null && found.hold_micros > 0) {
    facts.push(['held meanwhile', `${credits(found.hold_micros)} credits`]);
  }
  if (found.queue_position !== null) facts.push(['position', String(found.queue_position)]);
  if (found.wait_ms !== null) facts.push(['wait', duration(found.wait_ms)]);
  return facts;
}

function reuseFact({ job_id: jobId, reason }: NonNullable<Estimate['reuse']>): string {
  return jobId === null
    ? `it would run. ${plainLine(reason ?? '')}`
    : `answered at once with the outputs of job ${jobId}, free`;
}
