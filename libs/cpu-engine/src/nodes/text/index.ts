import { caseConverter } from './case-converter';
import { regexExtract } from './regex-extract';
import { regexMatch } from './regex-match';
import { regexReplace } from './regex-replace';
import { stringCompare } from './string-compare';
import { stringConcatenate } from './string-concatenate';
import { stringContains } from './string-contains';
import { stringLength } from './string-length';
import { stringReplace } from './string-replace';
import { stringSubstring } from './string-substring';
import { stringTrim } from './string-trim';

export const TEXT_NODES = [
  stringConcatenate,
  stringSubstring,
  stringLength,
  caseConverter,
  stringTrim,
  stringReplace,
  stringContains,
  stringCompare,
  regexMatch,
  regexExtract,
  regexReplace,
];
