import type { JobStatus, Progress } from '@millrace/contracts';
import type { NodeTime } from '../client';
import { count, duration, elapsed, type Palette, plainLine } from '../terminal';
import type { Connection } from './job-follower';
import type { ActiveNode } from './observed-nodes';

/** Everything that is shown of a running job. */
export interface ProgressState {
  status: JobStatus;
  queuePosition: number | null;
  progress: Progress | null;
  done: readonly NodeTime[];
  active: ActiveNode | null;
  connection: Connection | null;
  sinceMs: number;
}

/** How many finished nodes are shown. */
const DONE_SHOWN = 6;
const NODE_BAR = 16;
const LABEL_MAX = 40;

/** The lines that are drawn: finished nodes, the running node, the whole job. None is wider than `columns`. */
export function frameLines(state: ProgressState, columns: number, nowMs: number, paint: Palette): string[] {
  if (state.status === 'queued') return [waiting(state, nowMs, paint)];
  const shown = state.done.slice(-DONE_SHOWN);
  // Over all nodes so far, not only those shown: a column that narrows as nodes scroll away would jump.
  const labels = [...state.done.map(labelOf), ...(state.active ? [labelOf(state.active)] : [])];
  const width = Math.min(
    LABEL_MAX,
    Math.max(0, columns - 40),
    Math.max(0, ...labels.map((label) => [...label].length)),
  );
  return [
    ...shown.map((node) => doneLine(node, width, paint)),
    ...(state.active ? [activeLine(state.active, width, nowMs, paint)] : []),
    overallLine(state, columns, nowMs, paint),
  ];
}

/** A bar of `cells` characters, its left `fraction` filled. */
function bar(fraction: number, cells: number, paint: Palette): string {
  const filled = Math.min(cells, Math.max(0, Math.round(fraction * cells)));
  return paint.accent('━'.repeat(filled)) + paint.faint('─'.repeat(cells - filled));
}

/** `12  ImageBlur`: a node's id and class. */
export function labelOf({ nodeId, classType }: { nodeId: string; classType: string | null }): string {
  return plainLine(classType ? `${nodeId}  ${classType}` : nodeId);
}

/** The coloured symbol of each status. */
export function statusMark(status: JobStatus, paint: Palette): string {
  if (status === 'succeeded') return paint.good('✓');
  if (status === 'failed') return paint.bad('✗');
  if (status === 'queued' || status === 'running') return paint.accent('●');
  return paint.warn('■');
}

function waiting({ queuePosition, connection, sinceMs }: ProgressState, nowMs: number, paint: Palette): string {
  const place = queuePosition === null ? '' : `  position ${queuePosition}`;
  return `  ${paint.accent('○')} queued${place}  ${paint.faint(elapsed(nowMs - sinceMs))}${connectionNote(connection, paint)}`;
}

function doneLine(node: NodeTime, width: number, paint: Palette): string {
  const time = node.ms === null ? '' : duration(node.ms);
  return `  ${paint.good('✓')} ${fitted(labelOf(node), width)}  ${paint.faint(time)}`;
}

function activeLine(node: ActiveNode, width: number, nowMs: number, paint: Palette): string {
  const { step, steps } = node;
  const time = paint.faint(elapsed(nowMs - node.sinceMs));
  const stepping = step !== null && steps ? `${bar(step / steps, NODE_BAR, paint)} ${step}/${steps}  ` : '';
  return `  ${paint.accent('▸')} ${fitted(labelOf(node), width)}  ${stepping}${time}`;
}

function overallLine(
  { status, progress, connection, sinceMs }: ProgressState,
  columns: number,
  nowMs: number,
  paint: Palette,
): string {
  const value = progress?.value ?? 0;
  const nodes = progress ? `${progress.nodes_done} of ${count(progress.nodes_total, 'node')}  ` : 'starting  ';
  const percent = `${Math.floor(value * 100)}%`.padStart(4);
  const state = status === 'canceling' ? `${paint.warn('canceling')}  ` : '';
  const cells = Math.max(8, Math.min(32, columns - 48));
  const time = paint.faint(elapsed(nowMs - sinceMs));
  return `  ${bar(value, cells, paint)} ${percent}  ${state}${nodes}${time}${connectionNote(connection, paint)}`;
}

function connectionNote(connection: Connection | null, paint: Palette): string {
  if (connection === 'polling') return paint.faint('  no live stream, polling');
  return connection === 'unreachable' ? paint.warn('  service unreachable, retrying') : '';
}

function fitted(text: string, width: number): string {
  const characters = [...text];
  if (characters.length > width) return `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
  return text + ' '.repeat(width - characters.length);
}
