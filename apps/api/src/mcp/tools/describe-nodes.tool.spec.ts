import type { ShownNodeClasses } from '../../jobs';
import type { ToolCall } from '../tool';
import { DescribeNodesTool } from './describe-nodes.tool';

const options = Array.from({ length: 5_000 }, (_, nth) => `model-${nth}.safetensors`);
const present = (): unknown => ({ inputs: { name: { type: 'COMBO', options } }, outputs: [] });
const tool = new DescribeNodesTool({ of: () => Promise.resolve({ present }) } as unknown as ShownNodeClasses);
const call = { visitor: { caller: { accountId: 'a' } } } as unknown as ToolCall;

async function described(like?: string): Promise<{ options: string[]; options_left_out?: number }> {
  const { value } = await tool.run({ class_types: ['Loader'], options_like: like }, call);
  const { node_classes: classes } = value as { node_classes: Record<string, { inputs: { name: never } }> };
  return (classes.Loader as { inputs: { name: never } }).inputs.name;
}

describe('the choices of an input', () => {
  it('are cut at a hundred, with how many others there are', async () => {
    const all = await described();
    expect([all.options.length, all.options_left_out]).toEqual([100, 4_900]);
  });

  it('that were asked for and are all shown leave none out', async () => {
    expect(await described('MODEL-4999.')).toEqual({ type: 'COMBO', options: ['model-4999.safetensors'] });
  });

  it('that were asked for and are too many say how many of those are left out', async () => {
    const some = await described('model-4');
    expect([some.options.length, some.options_left_out]).toEqual([100, 1_011]);
  });
});
