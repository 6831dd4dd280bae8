import type { FaultProxy } from './fault-proxy';
import type { Harm } from './victims';

/** How long a fetch is waited for, and how often it is looked for one: most of them are over in a tenth of a second. */
const FETCH_SOUGHT_MS = 20_000;
const FETCH_POLL_MS = 5;

/** What holds for a while. */
const HELD = { lose: 'down', mute: 'silence', linger: 'linger' } as const;
/** What the mail server says no to. */
const REFUSED = ['MAIL FROM', 'RCPT TO', 'the message'] as const;
const NETWORK = ['slow', 'lose', 'reset', 'cut', 'mute', 'linger'] as const;

/** Faults of what lies between processes: connections, receivers, stores. */
export class NetworkFaults {
  /** While the store of models is silent, no other fault of the store ends it early. */
  private modelsStalled = false;

  constructor(private readonly harm: Harm) {}

  /** One fault of the connections to one server. The store has two ways in, and is away on both. */
  async hit(): Promise<void> {
    const { history, random } = this.harm;
    const name = random.pick(['postgres', 'redis', 's3', 'link'] as const);
    const fault = random.pick(NETWORK);
    if (name === 'redis') history.redisLosses += 1;
    this.harm.count(`${fault} ${name}`);
    if (fault === 'reset') this.waysTo(name).forEach((proxy) => proxy.reset());
    else if (fault === 'cut') {
      const [count, afterBytes] = [random.whole(1, 3), random.pick([0, 0, 1, 7, 100])];
      this.waysTo(name).forEach((proxy) => proxy.cutReplies(count, afterBytes));
    } else {
      const mode = fault === 'slow' ? { kind: 'latency' as const, ms: random.whole(20, 400) } : { kind: HELD[fault] };
      this.waysTo(name).forEach((proxy) => proxy.behave(mode));
      await this.harm.pause(random.whole(200, fault === 'mute' ? 2_500 : 1_200));
      this.waysTo(name).forEach((proxy) => proxy.behave({ kind: 'open' }));
    }
    if (name === 'redis') history.redisLosses += 1;
  }

  /** A receiver of webhooks is gone for a while, or takes its time. */
  async hitReceiver(): Promise<void> {
    const { random, victims } = this.harm;
    const kind = random.pick(['lose receiver', 'slow receiver'] as const);
    this.harm.count(kind);
    const slow = { kind: 'slow', ms: random.whole(500, 3_000) } as const;
    victims.receiver.behave(kind === 'lose receiver' ? { kind: 'down' } : slow);
    await this.harm.pause(random.whole(500, 3_000));
    victims.receiver.behave({ kind: 'open' });
  }

  /** The mail server is gone or silent for a while, or says that it cannot now. */
  async hitMail(): Promise<void> {
    const { random, victims } = this.harm;
    const kind = random.pick(['lose mail server', 'mute mail server', 'mail server refuses'] as const);
    this.harm.count(kind);
    const { mailServer, proxies } = victims;
    if (kind === 'mail server refuses') mailServer.refuses = { of: random.pick(REFUSED), code: 451 };
    else proxies.mail.behave({ kind: kind === 'lose mail server' ? 'down' : 'silence' });
    await this.harm.pause(random.whole(500, 3_000));
    this.restoreMail();
  }

  /**
   * The store stops to answer in the middle of a fetch, for longer than anything else is held up. Sometimes those who fetch are killed
   * meanwhile, and a byte of what they have is another when they come back.
   */
  async stallModels(): Promise<void> {
    const { random, until, victims } = this.harm;
    const { modelWorkers, proxies } = victims;
    const end = Date.now() + FETCH_SOUGHT_MS;
    const havePiece = random.chance(0.7);
    const isTheMoment = (): boolean => (havePiece ? modelWorkers.havePiece() : modelWorkers.isFetching());
    while (!isTheMoment() && Date.now() < end) await this.harm.pause(FETCH_POLL_MS);
    if (until.aborted || !isTheMoment()) return;
    this.modelsStalled = true;
    proxies.models.behave({ kind: 'silence' });
    this.harm.count('model store stalls');
    await this.harm.pause(random.whole(500, 6_000));
    if (random.chance(0.6) && modelWorkers.disappear() > 0) {
      this.harm.count('model worker dies');
      if (modelWorkers.corrupt(random)) this.harm.count('corrupted model');
    }
    this.modelsStalled = false;
    proxies.models.behave({ kind: 'open' });
  }

  /** Everything is as it was. */
  restore(): void {
    const { proxies, receiver } = this.harm.victims;
    receiver.behave({ kind: 'open' });
    this.restoreMail();
    for (const proxy of Object.values(proxies)) {
      proxy.cutReplies(0, 0);
      proxy.behave({ kind: 'open' });
    }
  }

  private restoreMail(): void {
    this.harm.victims.mailServer.refuses = null;
    this.harm.victims.proxies.mail.behave({ kind: 'open' });
  }

  private waysTo(name: 'postgres' | 'redis' | 's3' | 'link'): FaultProxy[] {
    const { proxies } = this.harm.victims;
    return name === 's3' && !this.modelsStalled ? [proxies.s3, proxies.models] : [proxies[name]];
  }
}
