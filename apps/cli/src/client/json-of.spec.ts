import { JsonText, jsonOf } from './json-of';

it('sends a graph as it was written, beside other fields', () => {
  const graph = '{"1": {"inputs": {"seed": 18446744073709551615, "text": "$& \\"x\\""}}}';
  expect(jsonOf({ name: 'a', warm_up: new JsonText(graph), max: 1 })).toBe(`{"name":"a","warm_up":${graph},"max":1}`);
});
