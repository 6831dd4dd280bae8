import { alterationOf } from './migration-statements.mjs';

/*
 * What a large table cannot be altered by: PostgreSQL would read or write all of it under a lock that nothing passes
 * (documentation of ALTER TABLE, "Notes").
 */

const ADD_CONSTRAINT = /^ADD (?:CONSTRAINT "?(\w+)"? )?(CHECK|FOREIGN KEY)\b/i;
const ADD_COLUMN =
  /^ADD (?:COLUMN )?(?:IF NOT EXISTS )?(?!CONSTRAINT\b|CHECK\b|FOREIGN\b|UNIQUE\b|PRIMARY\b|EXCLUDE\b)"?(\w+)"? (.*)$/i;
const SET_NOT_NULL = /^ALTER (?:COLUMN )?"?(\w+)"? SET NOT NULL$/i;
const SET_TYPE = /^ALTER (?:COLUMN )?"?(\w+)"? (?:SET DATA )?TYPE\b/i;
const VALIDATE = /^VALIDATE CONSTRAINT "?(\w+)"?$/i;
const NOT_VALID = / NOT VALID$/i;

const DEFAULT = /\bDEFAULT (.*?)(?= NOT NULL\b| NULL\b| CONSTRAINT\b| CHECK\b| UNIQUE\b| REFERENCES\b| PRIMARY\b|$)/i;
const FUNCTION_CALL = /\b(\w+) ?\(/g;
/** Functions whose value is the same in all of a statement; and words that a parenthesis may follow. */
const STABLE = [
  'now',
  'transaction_timestamp',
  'current_timestamp',
  'make_interval',
  'numeric',
  'varchar',
  'timestamptz',
];
const MAKES_VALUES = /^(?:big|small)?serial\b|\bGENERATED\b/i;

/**
 * What is wrong with the alterations of a migration.
 *
 * @param {string} name of the migration
 * @param {string[]} statements its own
 * @param {(table: string) => boolean} isLarge a large table that was there before the migration
 * @param {string[]} earlier statements of the migrations before it
 * @returns {string[]} sentences that say what to do
 */
export function tableFaults(name, statements, isLarge, earlier) {
  return statements.flatMap((statement, index) => {
    const { table, actions } = alterationOf(statement) ?? { table: '', actions: [] };
    if (!isLarge(table)) return [];
    const before = { own: statements.slice(0, index), earlier };
    return actions.flatMap((action) => actionFaults(table, action, before)).map((fault) => `${name} ${fault}`);
  });
}

/**
 * @param {string} table
 * @param {string} action
 * @param {{ own: string[], earlier: string[] }} before statements that ran already
 * @returns {string[]}
 */
function actionFaults(table, action, { own, earlier }) {
  if (ADD_CONSTRAINT.test(action)) {
    if (NOT_VALID.test(action)) return [];
    return [
      `adds a constraint to ${table} that reads all of it: add it NOT VALID, and VALIDATE it in a later migration.`,
    ];
  }
  const [, validated] = VALIDATE.exec(action) ?? [];
  if (validated !== undefined && addsConstraint(own, table, validated)) {
    return [`validates ${validated} of ${table} where it adds it, under the same lock: do it in a later migration.`];
  }
  const [, required] = SET_NOT_NULL.exec(action) ?? [];
  if (required !== undefined && !isKnownNotNull([...earlier, ...own], table, required)) {
    return [
      `reads all of ${table} to set ${required} NOT NULL: first add CHECK (${required} IS NOT NULL) NOT VALID, and VALIDATE it in a later migration.`,
    ];
  }
  const [, retyped] = SET_TYPE.exec(action) ?? [];
  if (retyped !== undefined) {
    return [
      `writes all of ${table} to change the type of ${retyped}: add a column, fill it in batches, and read that.`,
    ];
  }
  const [, column, definition = ''] = ADD_COLUMN.exec(action) ?? [];
  return column === undefined ? [] : columnFaults(table, column, definition);
}

/**
 * @param {string} table
 * @param {string} column
 * @param {string} definition its type, and what follows
 * @returns {string[]}
 */
function columnFaults(table, column, definition) {
  const faults = [];
  if (MAKES_VALUES.test(definition) || isVolatile(definition)) {
    faults.push(
      `writes all of ${table}, because each row gets a value of its own in ${column}: add the column without it, and fill it in batches.`,
    );
  }
  if (/\b(?:CHECK ?\(|REFERENCES )/i.test(definition)) {
    faults.push(`adds ${column} to ${table} with a constraint that reads all of it: add that NOT VALID, by itself.`);
  }
  if (/\b(?:UNIQUE|PRIMARY KEY)\b/i.test(definition)) {
    faults.push(
      `adds ${column} to ${table} with an index: build that CONCURRENTLY, then add a constraint USING INDEX.`,
    );
  }
  return faults;
}

/** @param {string} definition */
function isVolatile(definition) {
  const [, value = ''] = DEFAULT.exec(definition) ?? [];
  return [...value.matchAll(FUNCTION_CALL)].some(([, called = '']) => !STABLE.includes(called.toLowerCase()));
}

/**
 * @param {string[]} statements
 * @param {string} table
 * @param {string} constraint
 */
function addsConstraint(statements, table, constraint) {
  return actionsOn(statements, table).some((action) => ADD_CONSTRAINT.exec(action)?.[1] === constraint);
}

/**
 * Whether a CHECK that was validated says that the column is not null: PostgreSQL then does not look.
 *
 * @param {string[]} statements
 * @param {string} table
 * @param {string} column
 */
function isKnownNotNull(statements, table, column) {
  const says = new RegExp(`CHECK ?\\( ?"?${column}"? IS NOT NULL ?\\)`, 'i');
  const actions = actionsOn(statements, table);
  const checks = actions.filter((action) => says.test(action)).map((action) => ADD_CONSTRAINT.exec(action)?.[1]);
  return actions.some((action) => checks.includes(VALIDATE.exec(action)?.[1] ?? ''));
}

/**
 * @param {string[]} statements
 * @param {string} table
 */
function actionsOn(statements, table) {
  return statements.flatMap((statement) => {
    const alteration = alterationOf(statement);
    return alteration?.table === table ? alteration.actions : [];
  });
}
