import type { Asset } from '@millrace/contracts';
import { shortId } from '../ui/format';

/** What an asset is called: the end of its path, or its id. */
export function nameOf({ id, file_path: path }: Pick<Asset, 'id' | 'file_path'>): string {
  return path?.split('/').at(-1) || shortId(id);
}
