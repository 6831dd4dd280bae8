/**
 * The statements of a script, each on one line, without comments, and without what is in quotes.
 *
 * @param {string} sql
 */
export function statementsOf(sql) {
  return sql
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, (text) =>
      /^['$]/.test(text) ? "''" : ' ',
    )
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

const ALTER_TABLE = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(?:"?public"?\.)?"?(\w+)"?\*? (.*)$/i;

/**
 * What an `ALTER TABLE` does, action by action.
 *
 * @param {string} statement
 * @returns {{ table: string, actions: string[] } | null} null where it is another statement.
 */
export function alterationOf(statement) {
  const [, table, rest] = ALTER_TABLE.exec(statement) ?? [];
  if (table === undefined || rest === undefined) return null;
  const actions = [''];
  let depth = 0;
  for (const character of rest) {
    depth += '(['.includes(character) ? 1 : ')]'.includes(character) ? -1 : 0;
    if (character === ',' && depth === 0) actions.push('');
    else actions.push(`${actions.pop()}${character}`);
  }
  return { table, actions: actions.map((action) => action.trim()) };
}
