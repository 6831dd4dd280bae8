import { ERROR_CATALOGUE } from '@millrace/contracts';
import { recordOf } from '../client';
import { type CliFailure, EXIT, ServiceRefusal } from '../process';
import type { Palette } from './palette';
import { type Cell, tableLines } from './table';
import { plainLine } from './terminal-text';

/** A failure for people: what it is, where, what to do, and the request id to quote. */
export function failureLines(failure: CliFailure, paint: Palette): string[] {
  const { status, requestId } = failure.facts;
  const name = failure.code === 'usage' || failure.code === 'interrupted' ? '' : failure.code;
  const head = [
    name && paint.strong(plainLine(name)),
    status ? paint.faint(`(${status})`) : '',
    plainLine(failure.message),
  ];
  const cure = cureOf(failure);
  const mark = failure.exitCode === EXIT.interrupted ? paint.warn('■') : paint.bad('✗');
  return [
    `${mark} ${head.filter(Boolean).join(' ')}`,
    ...nodeErrorLines(failure, paint),
    ...fieldErrorLines(failure, paint),
    ...(cure ? [`  ${paint.accent('→')} ${plainLine(cure)}`] : []),
    ...(requestId ? [`  ${paint.faint(`request id ${plainLine(requestId)}`)}`] : []),
  ];
}

/** A failure for programs: the error envelope and what else this client knows. */
export function failureJson(failure: CliFailure): Record<string, unknown> {
  const { status, details, requestId, jobId } = failure.facts;
  const error = {
    code: failure.code,
    message: failure.message,
    details: details ?? null,
    cure: cureOf(failure) ?? null,
  };
  const job = jobId === undefined ? {} : { job_id: jobId };
  return { error: { ...error, status: status ?? null, request_id: requestId ?? null, ...job } };
}

function cureOf(failure: CliFailure): string | undefined {
  return [cureAloneOf(failure), failure.facts.goesOn].filter(Boolean).join(' ') || undefined;
}

function cureAloneOf(failure: CliFailure): string | undefined {
  if (failure.facts.cure) return failure.facts.cure;
  const scope = failure.code === 'forbidden' ? failure.facts.details?.scope : undefined;
  if (typeof scope === 'string') return scopeCure(scope);
  if (Object.hasOwn(CURES, failure.code)) return CURES[failure.code];
  return Object.hasOwn(ERROR_CATALOGUE, failure.code)
    ? ERROR_CATALOGUE[failure.code as keyof typeof ERROR_CATALOGUE].cure
    : undefined;
}

/** What to do with this program, where the catalogue's advice is for authors of clients. */
const CURES: Record<string, string> = {
  unauthorized:
    'Give a key that works: `millrace login`, MILLRACE_API_KEY or --api-key; to `millrace admin`, MILLRACE_ADMIN_TOKEN.',
  invalid_workflow: 'Correct these inputs in the graph, or give them other values with --set and --input.',
  insufficient_credits: 'Buy some with `millrace credits buy`, or ask the operator of the service.',
};

/** A key keeps the scopes that it was made with, and can give a new key no others. */
function scopeCure(scope: string): string {
  return (
    'A key keeps the scopes that it was made with. Make one that has this scope with a key that has it ' +
    `(\`millrace keys create NAME --scope ${scope} …\`), or ask the operator of the service for one ` +
    '(`millrace admin create-key ACCOUNT NAME`).'
  );
}

/** `details.node_errors`: node id to `{field, reason, message?}` (contract, 7.1). */
function nodeErrorLines(failure: CliFailure, paint: Palette): string[] {
  const classes = failure instanceof ServiceRefusal ? failure.nodeClasses : new Map<string, string>();
  return Object.entries(recordOf(failure.facts.details?.node_errors)).flatMap(([nodeId, faults]) => {
    const className = classes.get(nodeId);
    const title = nodeId === '' ? 'the graph' : `node ${nodeId}${className ? ` (${className})` : ''}`;
    return [`  ${paint.strong(plainLine(title))}`, ...faultLines(faults, paint)];
  });
}

/** `details.fields`: `{field, reason}` of a body that is not valid, unless the message says it already. */
function fieldErrorLines({ facts, message }: CliFailure, paint: Palette): string[] {
  const faults = facts.details?.fields;
  if (!Array.isArray(faults)) return [];
  const isSaid = ({ field, reason }: Record<string, unknown>): boolean =>
    message.includes(`${text(field)}: ${text(reason)}`);
  return faultLines(
    faults.map(recordOf).filter((fault) => !isSaid(fault)),
    paint,
  );
}

function faultLines(faults: unknown, paint: Palette): string[] {
  if (!Array.isArray(faults)) return [];
  const rows = faults
    .map(recordOf)
    .map(({ field, reason, message }): Cell[] => [
      '',
      text(field),
      { text: text(reason), style: paint.warn },
      text(message),
    ]);
  return tableLines(rows);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
