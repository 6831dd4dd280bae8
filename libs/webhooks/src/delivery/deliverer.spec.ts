import { newId } from '@millrace/contracts';
import { Deliverer } from './deliverer';
import { ATTEMPTS_AT_ONCE, Lanes } from './lanes';

type Parts = ConstructorParameters<typeof Deliverer>;

/** A deliverer that asks PostgreSQL for messages, of which there are none. @param answer what it says to each question. */
function delivererOf(
  lanes: Lanes,
  answer: (nth: number) => Promise<[]> = () => Promise.resolve([]),
): { deliverer: Deliverer; asked: () => number } {
  let asked = 0;
  const database = { rows: () => answer((asked += 1)) } as unknown as Parts[0];
  const [none, seconds] = [{} as never, 15];
  return {
    deliverer: new Deliverer(database, none, none, lanes, none, none, none, none, seconds),
    asked: () => asked,
  };
}

it('a process whose places are all taken asks for nothing, and goes on behind the endpoint that had its turn last', async () => {
  const lanes = new Lanes();
  const last = { endpointId: newId(), accountId: newId() };
  lanes.turn(lanes.room('quick'), [last]);
  for (let at = 0; at < ATTEMPTS_AT_ONCE; at += 1) lanes.begin({ endpointId: `e${at}`, accountId: `a${at}` });
  const { deliverer, asked } = delivererOf(lanes);
  expect(await deliverer.sendDue()).toBe(0);
  expect(asked()).toBe(0);
  expect(lanes.room('quick').after).toBe(last.endpointId);
});

it('a lane that cannot be claimed leaves the other its run', async () => {
  const lanes = new Lanes();
  const slow = { endpointId: newId(), accountId: newId() };
  lanes.begin(slow);
  lanes.end(slow, 10_000);
  const failsFirst = (nth: number): Promise<[]> =>
    nth === 1 ? Promise.reject(new Error('the slow lane')) : Promise.resolve([]);
  const { deliverer, asked } = delivererOf(lanes, failsFirst);
  await expect(deliverer.sendDue()).rejects.toThrow('the slow lane');
  expect(asked()).toBe(2);
});
