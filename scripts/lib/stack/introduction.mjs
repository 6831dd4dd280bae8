import { say } from '../command/index.mjs';
import { answers } from '../services/index.mjs';

/**
 * Say where it is and how to begin; only addresses that answer are named.
 *
 * @param {import('./stack.mjs').RunFile} run
 * @param {string} data
 */
export async function introduce({ publicUrl, opsUrl, consoleUrl, apiKey, adminToken }, data) {
  const pages = [
    ['Console', consoleUrl],
    ['Reference', `${publicUrl}/api/v2/reference`],
  ];
  say();
  say(`  API        ${publicUrl}/api/v2`);
  for (const [title = '', url = ''] of pages) if (await answers(url)) say(`  ${title.padEnd(10)} ${url}`);
  say(`  Operators  ${opsUrl}/console/ops/ with the admin token ${adminToken}`);
  say(`  API key    ${apiKey || 'none is needed'}`);
  say(`  Data       ${data}`);
  say();
  say(`  curl -s ${apiKey && `-H 'Authorization: Bearer ${apiKey}' `}${publicUrl}/api/v2/jobs`);
  say();
}
