import { joinBatches, sliceBatch } from '../../image/batch';
import { sameSize, shapeText, type ImageTensor } from '../../image/tensor';
import { NodeFault } from '../../node-api/node-fault';
import { defineListNode, output } from '../../node-api/node-class';
import { image, int } from '../../node-api/node-input';

/** Pictures that a list is dealt out from; each costs an object or two, however small it is. */
const MAX_PICTURES = 65_536;

export const rebatchImages = defineListNode({
  name: 'RebatchImages',
  displayName: 'Rebatch Images',
  category: 'image/batch',
  description: 'All pictures of a list of batches, dealt out again in batches of another size.',
  inputs: { images: image(), batch_size: int({ default: 1, min: 1, max: 4096 }) },
  outputs: [output('IMAGE', 'IMAGE', true)],
  run({ images, batch_size }, context) {
    const size = batch_size[0] ?? 1;
    const count = images.reduce((sum, image) => sum + image.batch, 0);
    if (count > MAX_PICTURES)
      throw new NodeFault(`images holds ${count} pictures; at most ${MAX_PICTURES} can be dealt out.`);
    const pictures = images.flatMap((image) => Array.from({ length: image.batch }, (_, n) => sliceBatch(image, n, 1)));
    const batches: ImageTensor[] = [];
    for (let from = 0; from < pictures.length; from += size) {
      const group = pictures.slice(from, from + size);
      batches.push(joinBatches(group, agreed(group), context));
    }
    return [batches];
  },
});

/** The first of pictures that all have its shape. */
function agreed(group: ImageTensor[]): ImageTensor {
  const first = group[0] as ImageTensor;
  const odd = group.find((picture) => !sameSize(picture, first) || picture.channels !== first.channels);
  if (odd)
    throw new NodeFault(
      `images holds pictures of ${shapeText(first)} and ${shapeText(odd)}; only pictures of one shape fit a batch.`,
    );
  return first;
}
