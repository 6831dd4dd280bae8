import type { Host } from '../process';
import { LineProgressView } from './line.progress-view';
import { LiveProgressView } from './live.progress-view';
import type { ProgressView } from './progress-view';

/** Redrawn lines on a terminal, a few plain lines anywhere else. */
export function progressView(host: Host): ProgressView {
  return host.stderr.isTTY && host.env.TERM !== 'dumb' ? new LiveProgressView(host) : new LineProgressView(host);
}
