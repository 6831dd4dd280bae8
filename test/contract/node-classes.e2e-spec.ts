import { ApiClient, TestStack } from '@millrace/testing';
import type { NodeClasses } from '@millrace/contracts';

let stack: TestStack;
beforeAll(async () => {
  stack = await TestStack.start();
});
afterAll(() => stack.stop());

describe('GET /node-classes', () => {
  it('lists what graphs can be made of, with bounds as text and choices', async () => {
    const { apiKey } = await stack.createAccount();
    const client = new ApiClient(stack.publicUrl, apiKey);
    const { status, body } = await client.call<NodeClasses>('GET', '/api/v2/node-classes');
    expect(status).toBe(200);
    expect(body.node_classes['MillraceReactionDiffusion']).toMatchObject({
      display_name: 'Reaction-Diffusion',
      output_node: false,
      inputs: {
        seed: { type: 'INT', required: true, min: '0', max: '18446744073709551615' },
        palette: { type: 'COMBO', options: expect.arrayContaining(['ember', 'moss']) as string[] },
      },
    });
    expect(body.node_classes['LoadImage']?.inputs['image']).toMatchObject({ file: 'image' });
    expect(body.node_classes['SaveImage']?.output_node).toBe(true);
    expect(Object.keys(body.node_classes['MillraceReactionDiffusion']?.inputs ?? {})[0]).toBe('width');
  });

  it('asks for a credential', async () => {
    const { status, body } = await new ApiClient(stack.publicUrl, 'mr_live_no').call('GET', '/api/v2/node-classes');
    expect([status, body.error.code]).toEqual([401, 'unauthorized']);
  });
});
