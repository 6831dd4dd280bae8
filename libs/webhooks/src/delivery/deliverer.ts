import type { Database, Statements } from '@millrace/database';
import type { DeveloperMails } from '@millrace/mail';
import type { Logger, Metrics } from '@millrace/platform';
import { liveSecrets, type EndpointSecrets } from '../endpoints';
import {
  claimMessages,
  handBackMessages,
  pauseSeconds,
  recordOutcome,
  type ClaimedMessage,
  type Lane,
  type Outcome,
} from '../messages';
import type { ReceiverClient, SendResult } from '../receivers';
import type { Lanes } from './lanes';
import { disabledNotice } from './disabled-notice';
import { bodyOf, readData, type MessageReaders } from './message-body';
import { signedHeaders } from './signature';

const USER_AGENT = 'Millrace-Webhooks/1';
/** Beyond the time of an attempt, for what comes before it and after: reading, signing, recording. */
const LEASE_MARGIN_SECONDS = 30;
/** Until messages are claimed again of which nothing could be read: a database that is slow is not asked for them all the time. */
const HAND_BACK_SECONDS = 5;
const GONE = 410;
/** How long a process that stops waits for attempts under way. What is cut off then is sent again. */
const CLOSE_MS = 5_000;
/**
 * One after the other: what one lane has begun takes places of the next. The slow one, which has half of them at most, comes first: the other
 * would take all that are free.
 */
const LANES: readonly Lane[] = ['slow', 'quick'];

const NOT_SENT = { status: null, durationMs: 0, answer: '' };
const EXPIRED: SendResult = {
  ...NOT_SENT,
  error: 'What it is about is past its retention, or goes on: its next end has a message of its own.',
};
const UNSIGNED: SendResult = {
  ...NOT_SENT,
  error: 'There is no secret to sign with. Rotate the secret of the endpoint.',
};

/** Sends what is due, many messages at once, and never waits for one receiver before it sends to another. */
export class Deliverer {
  private readonly underWay = new Set<Promise<void>>();
  private isClosing = false;

  constructor(
    private readonly database: Pick<Database, 'transaction'> & Statements,
    private readonly secrets: EndpointSecrets,
    private readonly client: ReceiverClient,
    private readonly lanes: Lanes,
    private readonly readers: MessageReaders,
    private readonly mails: DeveloperMails,
    private readonly metrics: Pick<Metrics, 'webhookAttempts'>,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly timeoutSeconds: number,
  ) {}

  /**
   * Claim messages that are due and begin to send them.
   *
   * @returns how many; it does not wait for the receivers.
   * @throws where a lane fails and none sends anything, as when the database does not answer: what was claimed is due again when its lease ends,
   *   at the latest.
   */
  async sendDue(): Promise<number> {
    const failures: unknown[] = [];
    let begun = 0;
    for (const lane of LANES) {
      try {
        begun += await this.sendOf(lane);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0) return begun;
    if (begun === 0) throw failures[0];
    this.logger.warn({ err: failures[0] }, 'some webhooks that are due could not be read; they are read again');
    return begun;
  }

  private async sendOf(lane: Lane): Promise<number> {
    const beganMs = performance.now();
    const messages = await this.claim(lane);
    if (messages.length === 0) return 0;
    const read = await this.readToSend(messages, beganMs);
    if (read === null) return 0;
    const { data, secrets } = read;
    messages.forEach((message, at) => {
      const attempt = this.attempt(message, data[at] ?? null, secrets.get(message.endpointId) ?? []);
      this.underWay.add(attempt);
      void attempt.finally(() => this.underWay.delete(attempt));
    });
    return messages.length;
  }

  /**
   * What is sent of claimed messages, and signed with. Where that fails or takes too long they are handed back: none of them was tried.
   *
   * @returns null where it took too long: a process that was frozen meanwhile may have lost its leases.
   */
  private async readToSend(
    messages: readonly ClaimedMessage[],
    beganMs: number,
  ): Promise<{ data: (object | null)[]; secrets: Map<string, string[]> } | null> {
    let isInTime = false;
    try {
      const [data, secrets] = await Promise.all([readData(this.readers, messages), this.openSecrets(messages)]);
      isInTime = performance.now() - beganMs <= (LEASE_MARGIN_SECONDS * 1_000) / 2;
      return isInTime ? { data, secrets } : null;
    } finally {
      if (!isInTime) await this.handBack(messages);
    }
  }

  /** Never rejects: without it the messages are due again when their leases end. */
  private async handBack(messages: readonly ClaimedMessage[]): Promise<void> {
    const count = messages.length;
    try {
      await handBackMessages(this.database, messages, HAND_BACK_SECONDS);
      this.logger.warn({ count }, 'webhooks were not read in time to be sent; they are read again');
    } catch (error) {
      this.logger.warn({ err: error, count }, 'webhooks were not read, nor handed back; they are read again');
    }
  }

  /** Endpoints have their turns one after the other, and begin again when all had theirs. */
  private async claim(lane: Lane): Promise<ClaimedMessage[]> {
    if (this.isClosing) return [];
    const room = this.lanes.room(lane);
    // Where nothing fits, nobody has had a turn.
    if (room.total <= 0) return [];
    const messages = await claimMessages(this.database, room, this.timeoutSeconds + LEASE_MARGIN_SECONDS);
    this.lanes.turn(room, messages);
    return messages.length === 0 && room.after !== null ? this.claim(lane) : messages;
  }

  private async openSecrets(messages: readonly ClaimedMessage[]): Promise<Map<string, string[]>> {
    const accounts = new Map(messages.map(({ endpointId, accountId }) => [endpointId, accountId]));
    const opened = new Map<string, string[]>();
    for (const { endpointId, sealed } of await liveSecrets(this.database, [...accounts.keys()])) {
      try {
        const secret = this.secrets.open(sealed, { endpointId, accountId: accounts.get(endpointId) ?? '' });
        opened.set(endpointId, [...(opened.get(endpointId) ?? []), secret]);
      } catch (error) {
        // The key that sealed it was removed from the ring. The messages of other endpoints go out.
        this.logger.warn({ err: error, endpoint: endpointId }, 'a secret of a webhook endpoint cannot be opened');
      }
    }
    return opened;
  }

  /** Never rejects: a result that is not recorded leaves the message to be sent again. */
  private async attempt(message: ClaimedMessage, data: object | null, secrets: readonly string[]): Promise<void> {
    let durationMs = 0;
    this.lanes.begin(message);
    try {
      if (data === null) return await this.record(message, EXPIRED, { kind: 'dropped' });
      if (secrets.length === 0) return await this.record(message, UNSIGNED, outcomeOf(message, UNSIGNED));
      const body = bodyOf(message, data);
      const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
      const signed = signedHeaders(message.id, body, secrets);
      const result = await this.client.post(message.url, { ...headers, ...signed }, body);
      ({ durationMs } = result);
      // Cut off by this process, not by the receiver.
      if (this.isClosing && result.status === null) return;
      await this.record(message, result, outcomeOf(message, result));
    } catch (error) {
      this.logger.warn(
        { err: error, message: message.id },
        'what came of a webhook was not recorded; it is sent again',
      );
    } finally {
      this.lanes.end(message, durationMs);
    }
  }

  private async record(message: ClaimedMessage, result: SendResult, outcome: Outcome): Promise<void> {
    if (outcome.kind === 'failed') await this.recordFailed(message, result, outcome);
    else await recordOutcome(this.database, message, result, outcome);
    this.metrics.webhookAttempts.inc({ outcome: outcome.kind });
  }

  /** The attempt may have been the one that disables its endpoint: then those who look after it get a mail in the same transaction. */
  private async recordFailed(message: ClaimedMessage, result: SendResult, outcome: Outcome): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { disabled = null } = (await recordOutcome(tx, message, result, outcome)) ?? {};
      if (disabled !== null) await this.mails.add(tx, disabled.accountId, disabledNotice(disabled));
    });
  }

  /** Wait for what is under way, for some seconds, and cut the rest off. */
  async close(): Promise<void> {
    this.isClosing = true;
    const timer = setTimeout(() => void this.client.close(), CLOSE_MS);
    await Promise.all(this.underWay);
    clearTimeout(timer);
    await this.client.close();
  }
}

/** Any 2xx is a delivery (Standard Webhooks, "Message consumption"). */
function outcomeOf({ tries }: ClaimedMessage, { status }: SendResult): Outcome {
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  return { kind: 'failed', pauseSeconds: pauseSeconds(tries), isGone: status === GONE };
}
