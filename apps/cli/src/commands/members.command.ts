import { MEMBER_ROLES } from '@millrace/contracts';
import { Argument, type Command } from 'commander';
import { recordOf } from '../client';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';

const role = (): Argument => new Argument('<role>', 'what they may do').choices(MEMBER_ROLES);

export function addMembers(program: Command, bind: Bind): void {
  const members = program.command('members').description('the people of your account');
  members.command('ls').description('all members').action(bind(list));
  members
    .command('invite')
    .description('send somebody a mail with which they become a member')
    .argument('<email>', 'their address')
    .addArgument(role())
    .action(bind(invite));
  members.command('invitations').description('invitations that can still be accepted').action(bind(listInvitations));
  members
    .command('uninvite')
    .description('take an invitation back')
    .argument('<invitation>', 'its id')
    .action(bind(uninvite));
  members
    .command('role')
    .description('give a member another role')
    .argument('<member>', 'the id of the member')
    .addArgument(role())
    .action(bind(changeRole));
  members
    .command('remove')
    .description('remove a member; their sessions and keys end')
    .argument('<member>', 'the id of the member')
    .action(bind(remove));
}

async function list(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/members')), 'No members.');
}

async function listInvitations(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecords(await api.json(api.platform('/invitations')), 'No invitations.');
}

async function invite(context: CommandContext, email: string, asked: string): Promise<void> {
  const { api } = await context.clients();
  const json = { email, role: asked };
  context.printRecord(recordOf(await api.json(api.platform('/invitations'), { method: 'POST', json })));
}

async function uninvite(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(`/invitations/${encodeURIComponent(id)}`), { method: 'DELETE' });
  context.print({ revoked: id }, () => [`took back ${plainLine(id)}`]);
}

async function changeRole(context: CommandContext, id: string, asked: string): Promise<void> {
  const { api } = await context.clients();
  const url = api.platform(`/members/${encodeURIComponent(id)}`);
  context.printRecord(recordOf(await api.json(url, { method: 'PATCH', json: { role: asked } })));
}

async function remove(context: CommandContext, id: string): Promise<void> {
  const { api } = await context.clients();
  await api.text(api.platform(`/members/${encodeURIComponent(id)}`), { method: 'DELETE' });
  context.print({ removed: id }, () => [`removed ${plainLine(id)}`]);
}
