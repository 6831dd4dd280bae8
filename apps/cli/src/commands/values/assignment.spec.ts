import { parseAssignment, parseLabels } from './assignment';

describe('an assignment on the command line', () => {
  it.each([
    ['10.image=photo.png', { target: '10.image', value: 'photo.png', asJson: false }],
    ['6.text=a=b', { target: '6.text', value: 'a=b', asJson: false }],
    ['6.text=', { target: '6.text', value: '', asJson: false }],
    ['6.on:=true', { target: '6.on', value: 'true', asJson: true }],
    ['12:3.seed=7', { target: '12:3.seed', value: '7', asJson: false }],
  ])('%s is read', (text, assignment) => {
    expect(parseAssignment(text, '--set')).toEqual(assignment);
  });

  it.each(['10.image', '=x', 'image=x', '.x=1', ''])('%j is refused with how to write it', (text) => {
    expect(() => parseAssignment(text, '--set')).toThrow(/does not name an input/);
  });
});

describe('labels on the command line', () => {
  it('are pairs, the last of a key counting', () => {
    expect(parseLabels(['user=ada', 'note=a=b', 'user=eve'])).toEqual([
      ['user', 'eve'],
      ['note', 'a=b'],
    ]);
  });

  it.each([[['user']], [['us er=x']], [[`k=${'x'.repeat(257)}`]], [[...Array(17).keys()].map((at) => `k${at}=v`)]])(
    'are refused beyond the limits of a job',
    (texts) => {
      expect(() => parseLabels(texts)).toThrow();
    },
  );
});
