import { parseJson } from '@millrace/workflow';
import { literalValue } from './literal';

function valueOf(text: string, type: string): unknown {
  return literalValue(parseJson(text), 'amount', { type, required: true });
}

describe('a literal at an input', () => {
  it.each([
    ['INT', '18446744073709551615', 18446744073709551615n],
    ['INT', '"64"', 64n],
    ['INT', '-64.9', -64n],
    ['INT', 'true', 1n],
    ['INT', '{"__value__": 3}', 3n],
    ['FLOAT', '1', 1],
    ['FLOAT', '"1e3"', 1000],
    ['STRING', '5', '5'],
    ['STRING', '5.0', '5.0'],
    ['STRING', 'null', 'None'],
    ['STRING', '{"a": [1]}', "{'a': [1]}"],
    ['BOOLEAN', '"false"', true],
    ['BOOLEAN', '""', false],
    ['BOOLEAN', '0.0', false],
    ['BOOLEAN', '[0]', true],
    ['COMBO', '"area"', 'area'],
    ['*', '1', 1n],
    ['*', '1.0', 1],
    ['*', 'null', null],
    ['*', '"x"', 'x'],
  ])('%s of %s', (type, text, value) => {
    expect(valueOf(text, type)).toEqual(value);
  });

  it.each([
    ['INT', '"x"', 'amount must be a whole number.'],
    ['INT', 'null', 'amount must be a whole number.'],
    ['FLOAT', '{}', 'amount must be a number.'],
  ])('%s of %s is refused by name', (type, text, message) => {
    expect(() => valueOf(text, type)).toThrow(message);
  });
});
