import { isTerminal, type Job, type Progress } from '@millrace/contracts';
import type { History } from './history';

/** What one connection to the events of a job sends, checked event by event. */
export class StreamReading {
  private text = '';
  private value = 0;
  private ended = false;

  constructor(
    private readonly jobId: string,
    private readonly history: History,
  ) {}

  /** Whether it sent the end of the job. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /** Read on. What is no whole event yet waits for the rest. */
  take(chunk: string): void {
    this.text += chunk;
    for (let end = this.text.indexOf('\n\n'); end >= 0; end = this.text.indexOf('\n\n')) {
      const frame = this.text.slice(0, end);
      this.text = this.text.slice(end + 2);
      // A comment keeps the connection open.
      if (!frame.startsWith(':')) this.read(frame);
    }
  }

  private read(frame: string): void {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
    const event = name === undefined || data === undefined ? undefined : parsed(data);
    const malformed = `sent ${JSON.stringify(frame.slice(0, 200))}`;
    this.history.look('events-are-json', this.jobId, event === undefined ? malformed : null);
    if (this.ended) this.history.look('end-is-last', this.jobId, `${name} came after the end`);
    if (event === undefined) return;
    if (name === 'status') this.readStatus(event as Job);
    if (name === 'progress') this.readProgress(event as Progress);
  }

  private readStatus({ status }: Job): void {
    this.history.saw(this.jobId, status, null);
    if (!isTerminal(status) || this.ended) return;
    this.ended = true;
    this.history.look('end-is-last', this.jobId, null);
  }

  private readProgress({ value }: Progress): void {
    const fell = value < this.value;
    this.history.look('stream-never-goes-back', this.jobId, fell ? `sent ${this.value} and then ${value}` : null);
    this.value = value;
  }
}

/** @returns undefined where it is no JSON object. */
function parsed(data: string): object | undefined {
  try {
    const value = JSON.parse(data) as unknown;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
