import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedDocs } from './generated-docs';

/**
 * Write the pages of docs/ that are made from the code; run from the project's root. With `--check` nothing is written, and
 * a page that is not as the code has it ends the program with 1 and a sentence.
 */
function main(check: boolean): void {
  for (const { name, text } of generatedDocs()) {
    const file = join('docs', name);
    if (!check) writeFileSync(file, text);
    else if (readOr(file, '') !== text) {
      process.stderr.write(`${file} is not what the code says; run: node dist/apps/api/src/openapi/write-docs.js\n`);
      process.exitCode = 1;
    }
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

main(process.argv.includes('--check'));
