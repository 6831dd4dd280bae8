import type { ReactNode } from 'react';
import type { Account } from '../api/account';
import { useSession } from '../shell/session-context';
import { Fact, Facts } from '../ui/display/facts';
import { capital } from '../ui/format';
import { Ago } from '../ui/display/time';

/** Who is signed in, and as which key. */
export function SignedIn({ account }: { account: Account | undefined }): ReactNode {
  const session = useSession();
  if (session.key.id === null) return <SignedInToService />;
  return (
    <section className="panel" aria-labelledby="signed-in">
      <div className="panel-head">
        <h2 id="signed-in">Signed in</h2>
      </div>
      <div className="signed-in">
        <Facts>
          <Fact name="Account">{session.account.name}</Fact>
          {account !== undefined && (
            <>
              <Fact name="Plan">{capital(account.plan)}</Fact>
              <Fact name="Status">{capital(account.status)}</Fact>
              <Fact name="Since">
                <Ago at={account.created_at} />
              </Fact>
            </>
          )}
          {session.member === null ? (
            <Fact name="Key">{session.key.name}</Fact>
          ) : (
            <>
              <Fact name="Member">{session.member.email}</Fact>
              <Fact name="Role">{capital(session.member.role)}</Fact>
            </>
          )}
          <Fact name="The session ends">
            <Ago at={session.expires_at} />
          </Fact>
          <Fact name="It may">
            <span className="mono small">{session.key.scopes.join(', ')}</span>
          </Fact>
          <Fact name="Id of the account">
            <span className="mono small">{session.account.id}</span>
          </Fact>
        </Facts>
        <p className="small soft">
          “Sign out everywhere” ends your sessions in all browsers; where you are an owner, all of this account. Its API
          keys go on.
        </p>
      </div>
    </section>
  );
}

/** A self-hosted service has one account, without keys and members: of it nobody needs to know. */
function SignedInToService(): ReactNode {
  const { expires_at: ends } = useSession();
  return (
    <section className="panel" aria-labelledby="signed-in">
      <div className="panel-head">
        <h2 id="signed-in">Signed in</h2>
      </div>
      <div className="signed-in">
        <Facts>
          <Fact name="Service">Self-hosted</Fact>
          <Fact name="The session ends">
            <Ago at={ends} />
          </Fact>
        </Facts>
        <p className="small soft">“Sign out everywhere” ends the sessions of all browsers. Programs go on.</p>
      </div>
    </section>
  );
}
