import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { createParser } from 'eventsource-parser';
import type { Job } from '@millrace/contracts';
import { assertEventDescribed, eventually, type ApiClient } from '@millrace/testing';

export interface SeenEvent {
  event: string;
  data: Record<string, unknown>;
}

/** A job's event stream as a client reads it. Every frame is held to the API description. */
export class EventStream {
  readonly events: SeenEvent[] = [];
  /** All that came, as it came. */
  text = '';
  ended = false;

  private constructor(private readonly response: IncomingMessage) {
    const parser = createParser({
      onEvent: ({ event = '', data }) => {
        assertEventDescribed(event, data);
        this.events.push({ event, data: JSON.parse(data) as Record<string, unknown> });
      },
    });
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      this.text += chunk;
      parser.feed(chunk);
    });
    response.on('end', () => (this.ended = true));
    response.on('error', () => (this.ended = true));
  }

  /** Open a stream. @throws when it is not answered 200. */
  static async open(client: ApiClient, id: string, apiKey: string): Promise<EventStream> {
    const request = get(`${client.base}/api/v2/jobs/${id}/events`, {
      headers: { authorization: `Bearer ${apiKey}`, 'accept-encoding': 'gzip, br', accept: 'text/event-stream' },
      agent: false,
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`the stream was answered ${response.statusCode}`);
    return new EventStream(response);
  }

  get headers(): IncomingMessage['headers'] {
    return this.response.headers;
  }

  of(name: string): Record<string, unknown>[] {
    return this.events.filter(({ event }) => event === name).map(({ data }) => data);
  }

  get statuses(): string[] {
    return this.of('status').map((job) => String((job as Partial<Job>).status));
  }

  /** Wait for an event. */
  async first(name: string, holds: (data: Record<string, unknown>) => boolean = () => true): Promise<void> {
    await eventually(`an event ${name}`, () => this.of(name).some(holds));
  }

  async end(): Promise<void> {
    await eventually('the stream to end', () => this.ended);
  }

  close(): void {
    this.response.destroy();
  }
}
