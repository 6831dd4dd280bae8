import { onDatabase } from './on-database.mjs';

/**
 * A database under a name of its own on a server with others, none of which is touched. A migration makes it; it is dropped at
 * the end of the scope, with the connections that are left.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} server URL of any database there
 * @param {string} name of letters, digits and underscores
 * @returns {string} its URL
 */
export function ownDatabase(scope, server, name) {
  const url = new URL(server);
  url.pathname = `/${name}`;
  scope.defer(() =>
    onDatabase(server, async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  );
  return url.href;
}
