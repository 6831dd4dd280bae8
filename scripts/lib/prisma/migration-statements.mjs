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

const CONCURRENT = /^(CREATE|DROP|RE)(?: UNIQUE)? ?INDEX\b.* CONCURRENTLY\b(?: IF (?:NOT )?EXISTS)?(?: (?!ON )(\S+))?/i;

/**
 * What a script does with an index outside of transactions, where that is all it does.
 *
 * @param {string} sql
 * @returns {{ verb: string, index: string | undefined } | null} `verb`: CREATE, DROP or RE; `index`: as the script writes it, undefined
 *   where it names none
 */
export function concurrentWorkOf(sql) {
  const [statement = '', ...others] = statementsOf(sql);
  const [found, verb = '', index] = CONCURRENT.exec(statement) ?? [];
  return found === undefined || others.length > 0 ? null : { verb: verb.toUpperCase(), index };
}
