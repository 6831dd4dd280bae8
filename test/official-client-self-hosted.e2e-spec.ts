import { TestStack } from '@millrace/testing';
import { describeOfficialClient } from './contract/support/official-client-suite';
let stack: TestStack;
let otherUrl: string;
beforeAll(async () => {
  stack = await TestStack.start({ surface: 'self_hosted' });
  otherUrl = (await stack.spawn('api')).publicUrl;
});
afterAll(() => stack.stop());

describeOfficialClient('an open self-hosted surface, without a key', () => ({
  baseUrl: stack.publicUrl,
  otherBaseUrl: otherUrl,
  apiKey: undefined,
  asksForKeys: false,
}));
