import { PassThrough } from 'node:stream';
import type { ServerResponse } from 'node:http';
import type { ApiKeysService, SessionsService } from '@millrace/accounts';
import type { DeploymentsService } from '@millrace/deployments';
import type { SharedSlots } from '@millrace/messaging';
import { Metrics } from '@millrace/platform';
import { OpenStreams } from './open-streams';
import { StreamChores } from './stream-chores';

const HOLDER = {
  ...{ accountId: 'an-account', limit: null, apiKeyId: 'a-key', deploymentId: null },
  scope: 'jobs:read',
} as const;

describe('a download whose access ends while its place is taken', () => {
  it('sends nothing, and gives the place back', async () => {
    let taken = (_: boolean): void => undefined;
    const released: string[] = [];
    const places = {
      take: () => new Promise<boolean>((resolve) => (taken = resolve)),
      release: (owner: string) => Promise.resolve(released.push(owner)),
    } as unknown as SharedSlots;
    const open = new OpenStreams(new Metrics('api'), { maxStreamsPerAccount: 1 }, places);
    const chores = new StreamChores(
      open,
      { rightsOf: () => Promise.resolve(new Map()) } as unknown as ApiKeysService,
      { findEnded: () => Promise.resolve(new Set()) } as unknown as SessionsService,
      {} as DeploymentsService,
    );
    const response = new PassThrough();
    const send = jest.fn(() => Promise.resolve());
    const sending = open.sending(response as unknown as ServerResponse, HOLDER, send);
    await chores.endWithoutAccess();
    taken(true);
    await sending;
    expect(send).not.toHaveBeenCalled();
    expect(response.destroyed).toBe(true);
    expect([open.all(), released]).toEqual([[], ['streams:an-account']]);
  });
});
