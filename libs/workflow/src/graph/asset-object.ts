import { isUuid } from '@millrace/contracts';
import { member, type JsonNode } from '../json';

/** An asset reference in a graph (wire supplement, section 4): where it stands, and which asset it names. */
export interface AssetObject {
  /** The asset's id in lower case, or null when the object is malformed. */
  id: string | null;
  /** Hints of the client's own; never trusted, absent when absent. */
  hash?: string;
  filePath?: string;
}

/** True for an object that says it is an asset reference, well-formed or not. */
export function isAssetObject(value: JsonNode): boolean {
  const type = member(value, '__type');
  return type?.kind === 'string' && type.value === 'core/ASSET';
}

/** What an object for which `isAssetObject` holds refers to. Unknown keys are tolerated. */
export function assetObjectOf(value: JsonNode): AssetObject {
  const info = member(value, 'info');
  const id = info && stringMember(info, 'id');
  if (!info || id === undefined || !isUuid(id)) return { id: null };
  const hash = stringMember(info, 'hash');
  const filePath = stringMember(info, 'file_path');
  return { id: id.toLowerCase(), ...(hash !== undefined && { hash }), ...(filePath !== undefined && { filePath }) };
}

function stringMember(node: JsonNode, key: string): string | undefined {
  const value = member(node, key);
  return value?.kind === 'string' ? value.value : undefined;
}
