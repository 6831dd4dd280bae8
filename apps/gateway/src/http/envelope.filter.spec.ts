import 'reflect-metadata';
import { Controller, Get, type DynamicModule } from '@nestjs/common';
import { Refusal } from '@millrace/contracts';
import { Metrics, createLogger } from '@millrace/platform';
import { openGateway } from './open-gateway';

const ITEMS = 100_000;

@Controller()
class Refusing {
  @Get('headers')
  headers(): never {
    throw new Refusal('rate_limited', 'Too many.', { retryAfterSeconds: 7, headers: { 'X-Cause': 'the test' } });
  }

  @Get('credential')
  credential(): never {
    throw new Refusal('unauthorized', 'No token.');
  }

  @Get('long')
  long(): never {
    const references = Array.from({ length: ITEMS }, (_, at) => ({ node_id: `${at}`, asset_id: null }));
    throw new Refusal('missing_asset', 'No.', { details: { references } });
  }
}

class RefusingModule {}
const refusing: DynamicModule = { module: RefusingModule, controllers: [Refusing] };

let gateway: Awaited<ReturnType<typeof openGateway>>;
const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${gateway.port}/${path}`);

beforeAll(async () => {
  const listener = { host: '127.0.0.1', port: 0, maxConnections: 10, trustedProxies: 0 };
  gateway = await openGateway(refusing, listener, createLogger('test', 'silent'), new Metrics('test'));
});
afterAll(() => gateway.close());

describe('a refusal of the gateway', () => {
  it('has its headers, and the time after which to try again', async () => {
    const { status, headers } = await get('headers');
    expect([status, headers.get('retry-after'), headers.get('x-cause')]).toEqual([429, '7', 'the test']);
  });

  it('of a credential says which scheme is expected', async () => {
    const { status, headers } = await get('credential');
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('is below 64 KB, and says how many items of a list it leaves out', async () => {
    const text = await (await get('long')).text();
    expect(Buffer.byteLength(text)).toBeLessThan(65_536);
    const { error } = JSON.parse(text) as { error: { details: { references: object[]; left_out: object } } };
    expect(error.details.left_out).toEqual({ references: ITEMS - error.details.references.length });
  });
});
