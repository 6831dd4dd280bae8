import { namesTag } from './entity-tag';

it.each(['"a"', 'W/"a"', '"x", "a"', '"x",W/"a"', '*'])('%s names the tag "a", be it weak or strong', (header) => {
  expect([namesTag(header, '"a"'), namesTag(header, 'W/"a"')]).toEqual([true, true]);
});

it.each([undefined, '', 'a', '"b"', 'W/"aa"', 'w/"a"'])('%s does not', (header) => {
  expect([namesTag(header, '"a"'), namesTag(header, 'W/"a"')]).toEqual([false, false]);
});
