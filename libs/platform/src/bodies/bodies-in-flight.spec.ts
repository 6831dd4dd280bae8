import { BodiesInFlight } from './bodies-in-flight';

const busy = expect.objectContaining({ code: 'rate_limited', status: 429, retryAfterSeconds: 2 }) as Error;
const KIB = 1_024;
const SMALL = 64 * KIB;

describe('bodies in flight', () => {
  const open = (): BodiesInFlight => new BodiesInFlight({ bytes: 640 * KIB, bytesPerPayer: 400 * KIB });

  it('are refused above the limit of their payer, and pass when what counts is released', () => {
    const bodies = open();
    bodies.take('a', 300 * KIB);
    expect(() => bodies.take('a', 101 * KIB)).toThrow(busy);
    bodies.release('a', 300 * KIB);
    bodies.take('a', 101 * KIB);
    bodies.take('a', 299 * KIB);
  });

  it('are refused above the limit of all together, the first of a payer too', () => {
    const bodies = open();
    bodies.take('a', 300 * KIB);
    bodies.take('b', 300 * KIB);
    expect(() => bodies.take('c', 65 * KIB)).toThrow(busy);
  });

  it('of a payer leave as much free as it has', () => {
    const bodies = open();
    for (const payer of ['a', 'b', 'c']) {
      for (let fits = true; fits;) {
        try {
          bodies.take(payer, 65 * KIB);
        } catch {
          fits = false;
        }
      }
    }
    bodies.take('d', 90 * KIB);
    bodies.take('d', 300);
  });

  it('that are small have a reserve, of which a payer takes no more than it leaves', () => {
    const bodies = open();
    bodies.take('a', 320 * KIB);
    bodies.take('b', 320 * KIB);
    bodies.take('c', 20 * KIB);
    bodies.take('c', 20 * KIB);
    expect(() => bodies.take('c', 20 * KIB)).toThrow(busy);
    expect(() => bodies.take('a', 300)).toThrow(busy);
    bodies.take('d', 40 * KIB);
    expect(() => bodies.take('e', SMALL)).toThrow(busy);
  });

  it('that grow are looked at whole', () => {
    const bodies = open();
    bodies.take('a', 500 * KIB);
    bodies.take('a', 600 * KIB, 500 * KIB);
    expect(() => bodies.take('b', SMALL)).toThrow(busy);
    bodies.release('a', 600 * KIB);
    bodies.take('b', SMALL);
    bodies.take('b', SMALL, SMALL);
    expect(() => bodies.take('b', 13 * KIB, 2 * SMALL)).toThrow(busy);
  });

  it('are not refused for their own size where nothing else is in flight', () => {
    const bodies = open();
    bodies.take('a', 10_000 * KIB);
    expect(() => bodies.take('b', 1)).toThrow(busy);
    bodies.release('a', 10_000 * KIB);
    bodies.take('b', 60 * KIB);
  });

  it('that are there already count, however many: a payer of whom nothing is may begin another, and no other', () => {
    const bodies = open();
    bodies.assertRoom('a');
    bodies.hold('a', 700 * KIB);
    expect(() => bodies.assertRoom('a')).toThrow(busy);
    bodies.assertRoom('b');
    bodies.hold('b', 1);
    // Below its own limit, above that of all.
    expect(() => bodies.assertRoom('b')).toThrow(busy);
    bodies.release('a', 700 * KIB);
    bodies.assertRoom('a');
    bodies.assertRoom('b');
  });

  it('of callers without an account have together what one account has, and leave room for each other', () => {
    const bodies = open();
    bodies.strangers.take('192.0.2.1', 250 * KIB);
    expect(() => bodies.strangers.take('192.0.2.2', 151 * KIB)).toThrow(busy);
    bodies.strangers.take('192.0.2.2', 100 * KIB);
    bodies.strangers.take('192.0.2.3', 300);
    bodies.take('a', 200 * KIB);
    bodies.take('b', 300);
    expect(() => bodies.take('b', 100 * KIB)).toThrow(busy);
    bodies.strangers.release('192.0.2.1', 250 * KIB);
    bodies.take('b', 100 * KIB);
  });

  it('of callers without an account have nothing of the reserve while accounts need it', () => {
    const bodies = open();
    bodies.strangers.take('192.0.2.1', 100 * KIB);
    bodies.take('a', 300 * KIB);
    bodies.take('b', 240 * KIB);
    expect(() => bodies.strangers.take('192.0.2.2', 300)).toThrow(busy);
    bodies.take('c', 300);
  });

  it('refuse no poll of an account, and one of each is taken however much others have', () => {
    const bodies = open();
    bodies.hold('another', 10_000 * KIB);
    const { polls, strangers } = bodies;
    for (let nth = 0; nth < 10; nth += 1) polls.take(`payer-${nth}`, 100 * KIB);
    expect(() => strangers.polls.take('192.0.2.1', 100 * KIB)).toThrow(busy);
    expect(() => polls.take('payer-0', 65 * KIB)).toThrow(busy);
  });

  it('of what has begun are refused for their own payer alone', () => {
    const { polls } = open();
    polls.take('a', 200 * KIB);
    polls.hold('b', 1_000 * KIB);
    polls.takeMore('a', 200 * KIB);
    expect(() => polls.takeMore('a', 1)).toThrow(busy);
  });
});
