import type { Page } from 'playwright-core';
import type { TestAccount, TestStack } from '@millrace/testing';
import { join, seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';
import type { TestMails } from '../support/test-mails';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const title = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true }).waitFor();
const rowOf = (page: Page, table: string, text: string) =>
  page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text });

/** Somebody invited by an owner's page. */
async function invite(owner: Page, email: string, role: string): Promise<void> {
  await press(owner, 'Invite');
  await owner.getByLabel('E-mail address').fill(email);
  await owner.getByRole('radio', { name: role, exact: true }).check();
  await press(owner, 'Send the invitation');
  await rowOf(owner, 'Invitations', email).filter({ hasText: role }).waitFor();
}

/** The people of an account, who is invited, and the sessions. */
export function members(shared: ConsoleStack, mails: TestMails): void {
  beforeEach(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('members in the console', () => {
    it('are invited by mail, come in by its link, get another role, and are removed', async () => {
      const owner = await browser.openSignedIn(account, '/members');
      await owner.getByText('Nobody yet').waitFor();
      await press(owner, 'Invite');
      expect(await seriousFaults(owner)).toEqual([]);
      await press(owner, 'Cancel');
      const email = 'ada@members.test';
      await invite(owner, email, 'Developer');
      expect(await seriousFaults(owner)).toEqual([]);

      const ada = await browser.open(`/#${await mails.linkTo(email)}`);
      await ada.getByText(`as ${email}, with the role developer`).waitFor();
      expect(await seriousFaults(ada)).toEqual([]);
      await join(ada);
      await title(ada, 'Jobs');
      expect(ada.url()).not.toContain('invitation');
      await ada.goto(browser.address('/members'));
      await rowOf(ada, 'People', email).filter({ hasText: 'You' }).waitFor();
      expect(await ada.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0);
      expect(await ada.getByRole('button', { name: `Remove ${email}` }).count()).toBe(0);
      await rowOf(ada, 'Sessions', email).waitFor();

      await press(owner, `Change the role of ${email}`);
      await owner.getByRole('radio', { name: 'Viewer', exact: true }).check();
      expect(await seriousFaults(owner)).toEqual([]);
      await press(owner, 'Change the role');
      await rowOf(owner, 'People', email).filter({ hasText: 'Viewer' }).waitFor();
      await rowOf(owner, 'Sessions', email).waitFor();
      await ada.reload();
      await ada.getByText('Owners and developers see who else is a member').waitFor();
      expect(await seriousFaults(ada)).toEqual([]);

      await press(owner, `Remove ${email}`);
      expect(await seriousFaults(owner)).toEqual([]);
      await press(owner, 'Remove the member');
      await owner.getByText('Nobody yet').waitFor();
      await rowOf(owner, 'Sessions', email).waitFor({ state: 'detached' });
      await ada.reload();
      await title(ada, 'Sign in');
    });

    it('who is the last owner stays one, and the page says why', async () => {
      const first = await browser.openSignedIn(account, '/members');
      const email = 'last@members.test';
      await invite(first, email, 'Owner');
      const owner = await browser.open(`/members#${await mails.linkTo(email)}`);
      await join(owner);
      await press(owner, `Change the role of ${email}`);
      await owner.getByRole('radio', { name: 'Viewer', exact: true }).check();
      await owner.getByText('This is your own role').waitFor();
      await press(owner, 'Change the role');
      await owner.getByText('The role was not changed').waitFor();
      await owner.getByText(/last owner/).waitFor();
      await press(owner, 'Cancel');
      await press(owner, `Remove ${email}`);
      await owner.getByText('This is you: you are signed out.').waitFor();
      await press(owner, 'Remove me and sign out');
      await owner.getByText('The member was not removed').waitFor();
    });

    it('an invitation is taken back: its link signs nobody in', async () => {
      const owner = await browser.openSignedIn(account, '/members');
      const email = 'eve@members.test';
      await invite(owner, email, 'Owner');
      const link = await mails.linkTo(email);
      await press(owner, `Take back the invitation of ${email}`);
      await rowOf(owner, 'Invitations', email).waitFor({ state: 'detached' });
      const eve = await browser.open(`/#${link}`);
      await eve.getByText('This invitation was used or taken back').waitFor();
      // Who is signed in to another account reads it as well, and goes on there.
      const other = await browser.openSignedIn(await stack.createAccount(), '/jobs');
      await title(other, 'Jobs');
      // The page loads again: an address that differs behind its # alone is no other one.
      await other.goto('about:blank');
      await other.goto(browser.address(`/jobs#${link}`));
      await other.getByText('This invitation was used or taken back').waitFor();
      await press(other, 'Stay in a test');
      await title(other, 'Jobs');
    });

    it('an invitation signs nobody in until they say so, and says which account they leave', async () => {
      const mine = await stack.createAccount();
      const owner = await browser.openSignedIn(account, '/members');
      const email = 'bob@members.test';
      await invite(owner, email, 'Developer');
      const link = await mails.linkTo(email);
      const page = await browser.openSignedIn(mine, '/jobs');
      const accountOf = (of: Page): Promise<string> =>
        of.evaluate<string>(
          "fetch('/platform/v1/session').then((answer) => answer.json()).then((session) => session.account.id)",
        );
      await page.goto('about:blank');
      await page.goto(browser.address(`/jobs#${link}`));
      await page.getByText('This browser leaves a test').waitFor();
      expect(await accountOf(page)).toBe(mine.id);
      await press(page, 'Stay in a test');
      await title(page, 'Jobs');
      expect(await accountOf(page)).toBe(mine.id);
      await page.goto('about:blank');
      await page.goto(browser.address(`/jobs#${link}`));
      await join(page);
      await title(page, 'Jobs');
      expect(await accountOf(page)).toBe(account.id);
    });
  });

  describe('a link by mail', () => {
    it('signs a member in, in the browser that asked for it', async () => {
      const email = 'grace@members.test';
      await invite(await browser.openSignedIn(account, '/members'), email, 'Viewer');
      const first = await browser.open(`/#${await mails.linkTo(email)}`);
      await join(first);
      await title(first, 'Jobs');

      const page = await browser.open('/');
      await title(page, 'Sign in');
      await page.getByText('Sign in by mail').click();
      await page.getByLabel('E-mail address').fill(email);
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Send me a link');
      await page.getByText('If a member has this address, a link is on its way.').waitFor();
      const link = await mails.linkTo(email, 2);
      const elsewhere = await browser.open(`/#${link}`);
      await elsewhere.getByRole('alert').waitFor();
      await page.goto(browser.address(`/account#${link}`));
      await page.getByText(email).first().waitFor();
    });
  });

  describe('sessions in the console', () => {
    it('are listed, ended one by one, and all others at once', async () => {
      const [one, two, three] = [
        await browser.openSignedIn(account, '/members'),
        await browser.openSignedIn(account, '/jobs'),
        await browser.openSignedIn(account, '/jobs'),
      ];
      await one.reload();
      const rows = one.getByRole('table', { name: 'Sessions', exact: true }).getByRole('row');
      await rows.nth(3).waitFor();
      expect(await rows.filter({ hasText: 'This session' }).count()).toBe(1);
      // Newest first.
      await rows.nth(1).getByRole('button').click();
      await rows.nth(3).waitFor({ state: 'detached' });
      await three.reload();
      await title(three, 'Sign in');
      await title(two, 'Jobs');
      await press(one, 'End all others');
      await rows.nth(2).waitFor({ state: 'detached' });
      await two.reload();
      await title(two, 'Sign in');
      await one.reload();
      await title(one, 'Members');
    });

    it('and members are shown on a phone', async () => {
      const owner = await browser.openSignedIn(account, '/members');
      const email = 'a.person.with.a.rather.long.address@department.members.test';
      await invite(owner, email, 'Finance');
      const page = await browser.openSignedIn(account, '/members', PHONE);
      await page.getByText('This session').waitFor();
      await rowOf(page, 'Invitations', email).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });
}
