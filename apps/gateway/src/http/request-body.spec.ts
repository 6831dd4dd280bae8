import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { RequestBodies } from './request-bodies';
import { RequestBody } from './request-body';

const MIB = 1_048_576;
const TOKEN = 'a token';

let bodies: RequestBodies;
let response: ServerResponse;
let body: RequestBody;
beforeEach(() => {
  bodies = new RequestBodies({ bytes: 4 * MIB, bytesPerToken: MIB });
  const request = new IncomingMessage(new Socket());
  response = new ServerResponse(request);
  RequestBody.open(request, response, bodies, TOKEN);
  body = RequestBody.of(request);
});

const askNext = (): Promise<string> => bodies.answer(TOKEN, () => Promise.resolve('answered'));
const busy = { code: 'rate_limited' };

describe('a large answer', () => {
  it('counts for its token until it is out', async () => {
    body.hold(2 * MIB);
    await expect(askNext()).rejects.toMatchObject(busy);
    response.emit('close');
    expect(await askNext()).toBe('answered');
  });

  it('does not count where its worker left before it was made', async () => {
    response.emit('close');
    body.hold(2 * MIB);
    expect(await askNext()).toBe('answered');
  });
});

it('graphs wait for each other, and no body of the token waits for them', async () => {
  let read: () => void = () => undefined;
  const graph = body.graphInTurn(() => new Promise<string>((resolve) => (read = () => resolve('graph'))));
  let isSecondRead = false;
  const second = body.graphInTurn(() => Promise.resolve((isSecondRead = true)));
  expect(await body.inTurn(() => Promise.resolve('report'))).toBe('report');
  expect(isSecondRead).toBe(false);
  read();
  expect(await graph).toBe('graph');
  expect(await second).toBe(true);
});
