import { setImmediate } from 'node:timers/promises';
import { ApiKeysService } from '@millrace/accounts';
import { AssetService } from '@millrace/assets';
import { DeploymentsService } from '@millrace/deployments';
import { ModelLibrary } from '@millrace/models';
import { WebhookMessages } from '@millrace/webhooks';
import { DeploymentVersionActs } from './deployments/deployment-version-acts';

/** What a use case does not need here. */
const NONE = {} as never;
const ACCOUNT = '01980000-0000-7000-8000-000000000000';
const page = { cursor: null, limit: 20 };

/** A store whose statements take a while. */
class SlowStore {
  most = 0;
  private running = 0;

  private async answer<T>(value: T): Promise<T> {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await setImmediate();
    this.running -= 1;
    return value;
  }

  readonly rows = {
    list: () => this.answer([]),
    find: () => this.answer([]),
    of: () => this.answer(new Map()),
  } as never;
  readonly assets = { list: () => this.answer({ assets: [], next: null }) } as never;
  readonly replays = { replaySpan: () => this.answer(0) } as never;
}

const lists: Record<string, (store: SlowStore) => () => Promise<unknown>> = {
  'API keys': ({ rows }) => {
    const keys = new ApiKeysService(NONE, NONE, rows, NONE, NONE, 'live', NONE, NONE, () => undefined);
    return () => keys.list(ACCOUNT);
  },
  models: ({ rows }) => {
    const library = new ModelLibrary(NONE, rows, NONE, NONE);
    return () => library.list(ACCOUNT, { ...page, folder: null, shared: null });
  },
  deployments: ({ rows }) => {
    const deployments = new DeploymentsService(NONE, rows);
    return () => deployments.list(ACCOUNT);
  },
  'versions of deployments': ({ rows }) => {
    const versioning = { list: () => Promise.resolve({}) } as never;
    const acts = new DeploymentVersionActs(NONE, NONE, versioning, NONE, NONE, rows);
    return () => acts.list({ id: ACCOUNT, accountId: ACCOUNT } as never);
  },
  "a sub-key's assets": ({ assets }) => {
    const service = new AssetService(NONE, NONE, assets, NONE, NONE);
    const filter = { ...page, kind: 'output', contentType: null, createdAfter: null, createdBefore: null } as const;
    return () => service.list({ accountId: ACCOUNT, labels: { user: 'ada' } }, filter);
  },
  'webhook messages to be sent again': ({ replays }) => {
    const messages = new WebhookMessages(NONE, { get: () => Promise.resolve(NONE) }, replays);
    return () => messages.replaySpan(ACCOUNT, ACCOUNT, { states: ['failed'] }, (act) => act(NONE));
  },
};

it.each(Object.entries(lists))('%s are read for one account one after the other', async (_what, listOf) => {
  const store = new SlowStore();
  const list = listOf(store);
  await Promise.all(Array.from({ length: 5 }, () => list()));
  expect(store.most).toBe(1);
});
