import { missingAssets } from './refusals';

it('a reference to an asset names its id, or says that it has none that is one', () => {
  const at = { node_id: '1', field: 'image' };
  const { message } = missingAssets([
    { ...at, asset_id: null },
    { ...at, asset_id: 'x' },
  ]);
  expect(message).toBe(
    'The workflow refers to assets that do not exist or are not yours: node 1, image: an asset reference whose id is missing or ' +
      'no UUID; node 1, image: asset x.',
  );
});
